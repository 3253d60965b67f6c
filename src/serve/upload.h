// The pictures and the parameters of a request, whichever way they were sent: a picture as the
// body, several as parts of a multipart form, or in base64 inside JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"
#include "serve/parameters.h"

namespace soft {

struct Upload {
  std::vector<std::string> pictures;  // bytes; never empty
  bool several = false;               // asked for a list of answers, be it of one
  Parameters parameters;
};

// Whether a body of this content type can hold a picture at all.
bool is_upload_type(std::string_view content_type);

// Takes the request apart. A usage error says what is missing or malformed.
Upload read_upload(Request request, size_t most_pictures);

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
