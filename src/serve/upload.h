// The picture and the parameters of a request, whichever way they were sent: the picture as the
// body, as a part of a multipart form, or in base64 inside JSON.
#pragma once

#include <string>
#include <string_view>

#include "serve/http.h"
#include "serve/parameters.h"

namespace soft {

struct Upload {
  std::string storage;       // owns the picture where it had to be decoded
  std::string_view picture;  // its bytes: inside the request's body, or inside `storage`
  Parameters parameters;
};

// Whether a body of this content type can hold a picture at all.
bool is_upload_type(std::string_view content_type);

// A usage error says what is missing or malformed. The request must outlive the upload.
Upload read_upload(const Request& request);

// ---- The pieces, for tests

struct FormPart {
  std::string name;
  bool file = false;  // it has a file name
  std::string_view content;
};
std::vector<FormPart> parse_form(std::string_view content_type, std::string_view body);

std::string base64_decoded(std::string_view text);

}  // namespace soft
