#include "serve/upload.h"

#include <array>
#include <cctype>

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"

namespace soft {
namespace {

constexpr const char* kForm = "multipart/form-data";
constexpr const char* kJson = "application/json";
constexpr const char* kPicture = "image";    // the field that holds the picture,
constexpr const char* kPictures = "images";  // and the one that holds several
constexpr size_t kMostFields = 32;           // beside the pictures

// "Image/PNG; x=y" -> "image/png"
std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find_first_of("; ")));
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

void add_picture(Upload& upload, std::string bytes, size_t most) {
  if (upload.pictures.size() == most) {
    fail_usage("more than {} pictures (--max-pictures); send them in several requests", most);
  }
  upload.pictures.push_back(std::move(bytes));
}

void read_form(const Request& request, Upload& upload, size_t most) {
  for (const FormPart& part : parse_form(request.content_type, request.body, most + kMostFields)) {
    if (part.name != kPicture && part.name != kPictures) {
      upload.parameters.add(part.name, std::string(part.content));
      continue;
    }
    upload.several = !upload.pictures.empty() || part.name == kPictures;
    add_picture(upload, std::string(part.content), most);
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

std::string picture_of(const Json& value, std::string_view name) {
  if (!value.is_string()) {
    fail_usage("'{}' is no string; put the picture's bytes there in base64", name);
  }
  return base64_decoded(value.get_ref<const std::string&>(), name);
}

void read_pictures(const Json& list, Upload& upload, size_t most) {
  if (!list.is_array()) fail_usage("'images' is no list; put pictures there, each in base64");
  upload.several = true;
  for (const Json& value : list) add_picture(upload, picture_of(value, kPictures), most);
}

void read_json(const Request& request, Upload& upload, size_t most) {
  const Json json = parse_body(request.body);
  if (!json.is_object()) fail_usage("the request's body is JSON, but not an object");
  for (const auto& [name, value] : json.items()) {
    if (name == kPictures) {
      read_pictures(value, upload, most);
    } else if (name == kPicture) {
      add_picture(upload, picture_of(value, name), most);
    } else if (value.is_string()) {
      upload.parameters.add(name, value.get<std::string>());
    } else if (value.is_number_integer()) {
      upload.parameters.add(name, value.dump());
    } else {
      fail_usage("'{}' is neither a string nor a whole number", name);
    }
  }
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

std::string base64_decoded(std::string_view text, std::string_view name) {
  static constexpr std::array<int8_t, 256> kTable = base64_table();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int8_t digit = kTable[static_cast<unsigned char>(c)];
    if (digit < 0) {
      fail_usage("'{}' is not base64: it has the character '{}'", name,
                 printable(std::string_view(&c, 1)));
    }
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

Upload read_upload(Request request, size_t most_pictures) {
  Upload upload;
  upload.parameters.add_query(request.query());
  const std::string type = media_type(request.content_type);
  if (type == kForm) {
    read_form(request, upload, most_pictures);
  } else if (type == kJson) {
    read_json(request, upload, most_pictures);
  } else if (!request.body.empty()) {
    upload.pictures.push_back(std::move(request.body));
  }
  const bool missing =
      upload.pictures.empty() || (!upload.several && upload.pictures.front().empty());
  if (missing) {
    fail_usage(
        "there is no picture; send its bytes as the body, as the part 'image' of a form, or in "
        "base64 as 'image' in JSON");
  }
  return upload;
}

}  // namespace soft
