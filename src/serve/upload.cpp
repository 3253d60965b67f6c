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
constexpr size_t kMostFields = 32;  // beside the pictures or texts

// How requests call what the model reads.
struct Names {
  const char* what;
  const char* one;      // the field that holds one,
  const char* several;  // and the one that holds several
  const char* missing;
};
constexpr Names kPictures{"pictures", "image", "images",
                          "there is no picture; send its bytes as the body, as the part 'image' of "
                          "a form, or in base64 as 'image' in JSON"};
constexpr Names kTexts{"texts", "text", "texts",
                       "there is no text; send it as the body (text/plain), as the part 'text' of "
                       "a form, or as 'text' in JSON"};

const Names& names_of(Wanted wanted) { return wanted == Wanted::kTexts ? kTexts : kPictures; }

// "Image/PNG; x=y" -> "image/png"
std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find_first_of("; ")));
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

// Takes a request apart for a model that reads pictures, or for one that reads texts.
class Reader {
 public:
  Reader(Upload& upload, size_t most, Wanted wanted)
      : upload_(upload), most_(most), wanted_(wanted), names_(names_of(wanted)) {}

  void read_form(const Request& request) {
    for (const FormPart& part :
         parse_form(request.content_type, request.body, most_ + kMostFields)) {
      check_kind(part.name);
      if (part.name != names_.one && part.name != names_.several) {
        upload_.parameters.add(part.name, std::string(part.content));
        continue;
      }
      upload_.several = !upload_.items.empty() || part.name == names_.several;
      add(std::string(part.content));
    }
  }

  void read_json(const Json& json) {
    if (!json.is_object()) fail_usage("the request's body is JSON, but not an object");
    for (const auto& [name, value] : json.items()) {
      check_kind(name);
      if (name == names_.several) {
        read_list(value);
      } else if (name == names_.one) {
        add(item_of(value, name));
      } else if (value.is_string()) {
        upload_.parameters.add(name, value.get<std::string>());
      } else if (value.is_number_integer()) {
        upload_.parameters.add(name, value.dump());
      } else {
        fail_usage("'{}' is neither a string nor a whole number", name);
      }
    }
  }

 private:
  void check_kind(std::string_view name) const {
    const Names& other = names_of(wanted_ == Wanted::kTexts ? Wanted::kPictures : Wanted::kTexts);
    if (name != other.one && name != other.several) return;
    fail_usage("'{}' is for models that read {}; this one reads {}: send '{}'", name, other.what,
               names_.what, names_.one);
  }

  void add(std::string bytes) {
    if (upload_.items.size() == most_) {
      fail_usage("more than {} {} (--max-pictures); send them in several requests", most_,
                 names_.what);
    }
    upload_.items.push_back(std::move(bytes));
  }

  std::string item_of(const Json& value, std::string_view name) const {
    const bool text = wanted_ == Wanted::kTexts;
    if (!value.is_string()) {
      fail_usage("'{}' is no string; put {} there", name,
                 text ? "the text" : "the picture's bytes in base64");
    }
    const auto& string = value.get_ref<const std::string&>();
    return text ? string : base64_decoded(string, name);
  }

  void read_list(const Json& list) {
    if (!list.is_array()) {
      fail_usage("'{}' is no list; put {} there{}", names_.several, names_.what,
                 wanted_ == Wanted::kTexts ? "" : ", each in base64");
    }
    upload_.several = true;
    for (const Json& value : list) add(item_of(value, names_.several));
  }

  Upload& upload_;
  const size_t most_;
  const Wanted wanted_;
  const Names& names_;
};

// Whatever is wrong with it is the request's fault.
Json parse_body(const std::string& body) {
  try {
    return parse_json(body, "the request's body");
  } catch (const Error& error) {
    fail_usage("{}", error.what());
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

std::string type_obstacle(std::string_view content_type, Wanted wanted) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "application/octet-stream" || type == kForm || type == kJson ||
      type == "application/x-www-form-urlencoded") {  // what curl --data-binary says
    return "";
  }
  if (wanted == Wanted::kTexts) {
    if (type == "text/plain") return "";
    return fmt::format(
        "this model reads texts, and '{}' is none; send text/plain, multipart/form-data or "
        "application/json",
        content_type);
  }
  if (type.rfind("image/", 0) == 0) return "";
  return fmt::format(
      "cannot read a picture from '{}'; send image/*, multipart/form-data or application/json",
      content_type);
}

Upload read_upload(Request request, size_t most, Wanted wanted) {
  Upload upload;
  upload.parameters.add_query(request.query());
  Reader reader(upload, most, wanted);
  const std::string type = media_type(request.content_type);
  if (type == kForm) {
    reader.read_form(request);
  } else if (type == kJson) {
    reader.read_json(parse_body(request.body));
  } else if (!request.body.empty()) {
    upload.items.push_back(std::move(request.body));
  }
  const bool missing = upload.items.empty() || (!upload.several && upload.items.front().empty());
  if (missing) fail_usage("{}", names_of(wanted).missing);
  return upload;
}

}  // namespace soft
