// The pictures or texts and the parameters of a request, whichever way they were sent: one as the
// body, several as parts of a multipart form, or inside JSON (pictures in base64).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"
#include "serve/parameters.h"

namespace soft {

enum class Wanted { kPictures, kTexts };  // what the model reads

struct Upload {
  std::vector<std::string> items;  // the bytes of each; there is at least one
  bool several = false;            // asked for a list of answers, be it of one
  Parameters parameters;
};

// "" when a body of this content type can hold what is wanted, or what to say when it cannot.
std::string type_obstacle(std::string_view content_type, Wanted wanted);

// Takes the request apart. A usage error says what is missing or malformed.
Upload read_upload(Request request, size_t most, Wanted wanted = Wanted::kPictures);

// ---- The pieces, for tests

struct FormPart {
  std::string name;
  bool file = false;  // it has a file name
  std::string_view content;
};
std::vector<FormPart> parse_form(std::string_view content_type, std::string_view body,
                                 size_t most_parts = 32);

// `name` is the field, for errors.
std::string base64_decoded(std::string_view text, std::string_view name = "image");

}  // namespace soft
