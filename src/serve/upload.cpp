#include "serve/upload.h"

#include <array>
#include <cctype>

#include "base/error.h"
#include "base/json.h"

namespace soft {
namespace {

constexpr const char* kForm = "multipart/form-data";
constexpr const char* kJson = "application/json";
constexpr const char* kPicture = "image";  // the field that holds the picture

// "Image/PNG; x=y" -> "image/png"
std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find_first_of("; ")));
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

void read_form(const Request& request, Upload& upload) {
  for (const FormPart& part : parse_form(request.content_type, request.body)) {
    if (part.name != kPicture) {
      upload.parameters.add(part.name, std::string(part.content));
      continue;
    }
    if (upload.picture.data() != nullptr) fail_usage("the form has two parts named 'image'");
    upload.picture = part.content;
  }
}

// Whatever is wrong with it is the request's fault.
Json parse_body(const std::string& body) {
  try {
    return parse_json(body, "the request's body");
  } catch (const Error& error) {
    fail_usage("{}", error.what());
  }
}

void read_json(const Request& request, Upload& upload) {
  const Json json = parse_body(request.body);
  if (!json.is_object()) fail_usage("the request's body is JSON, but not an object");
  for (const auto& [name, value] : json.items()) {
    const bool text = value.is_string();
    if (!text && !value.is_number_integer()) {
      fail_usage("'{}' is neither a string nor a whole number", name);
    }
    if (name == kPicture) {
      if (!text) fail_usage("'image' is no string; put the picture's bytes there in base64");
      upload.storage = base64_decoded(value.get_ref<const std::string&>());
      continue;
    }
    upload.parameters.add(name, text ? value.get<std::string>() : value.dump());
  }
  upload.picture = upload.storage;
}

// What each character stands for; -1 for those that are none of base64's.
constexpr std::array<int8_t, 256> base64_table() {
  std::array<int8_t, 256> table{};
  for (int8_t& value : table) value = -1;
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kDigits.size(); ++i) {
    table[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  return table;
}

}  // namespace

std::string base64_decoded(std::string_view text) {
  static constexpr std::array<int8_t, 256> kTable = base64_table();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int8_t digit = kTable[static_cast<unsigned char>(c)];
    if (digit < 0) fail_usage("'image' is not base64: it has the character '{}'", c);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

bool is_upload_type(std::string_view content_type) {
  const std::string type = media_type(content_type);
  return type.empty() || type.rfind("image/", 0) == 0 || type == "application/octet-stream" ||
         type == "application/x-www-form-urlencoded" ||  // what curl --data-binary says
         type == kForm || type == kJson;
}

Upload read_upload(const Request& request) {
  Upload upload;
  upload.parameters.add_query(request.query());
  const std::string type = media_type(request.content_type);
  if (type == kForm) {
    read_form(request, upload);
  } else if (type == kJson) {
    read_json(request, upload);
  } else {
    upload.picture = request.body;
  }
  if (upload.picture.empty()) {
    fail_usage(
        "there is no picture; send its bytes as the body, as the part 'image' of a form, or in "
        "base64 as 'image' in JSON");
  }
  return upload;
}

}  // namespace soft
