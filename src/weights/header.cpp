#include "weights/header.h"

#include <limits>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "weights/dtype.h"
#include "weights/read.h"

namespace soft {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kMaxNumbers = 64;  // in one array; shapes are checked more strictly later

class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  Header header;

  bool start_object(size_t /*members*/) override {
    if (depth_ > 1 || in_array_) refuse("an object");
    if (depth_ == 1 && !is_metadata()) entry_ = HeaderEntry{};
    fields_.clear();
    ++depth_;
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ == 1 && !is_metadata()) finish_tensor();
    return true;
  }

  bool key(string_t& text) override {
    (depth_ == 1 ? name_ : field_) = text;
    const bool fresh = depth_ == 1 ? names_.insert(text).second : fields_.insert(text).second;
    if (!fresh) fail("key '{}' appears twice in the header", printable(text));
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ == 2 && is_metadata()) {
      header.metadata[field_] = text;
    } else if (depth_ == 2 && field_ == "dtype" && !in_array_) {
      entry_.type = dtype_of(printable(text));
    } else {
      refuse("a string");
    }
    return true;
  }

  bool start_array(size_t /*elements*/) override {
    const bool expected = field_ == "shape" || field_ == "data_offsets";
    if (depth_ != 2 || is_metadata() || in_array_ || !expected) refuse("an array");
    in_array_ = true;
    numbers_.clear();
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_ || value > std::numeric_limits<int64_t>::max()) refuse("a number");
    if (numbers_.size() == kMaxNumbers) refuse("a long array");
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    if (field_ == "shape") {
      entry_.shape = numbers_;
      return true;
    }
    if (numbers_.size() != 2) refuse("offsets that are not a pair");
    entry_.begin = numbers_[0];
    entry_.end = numbers_[1];
    return true;
  }

  bool number_integer(number_integer_t /*value*/) override { refuse("a negative number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    refuse("a fraction");
  }
  bool boolean(bool /*value*/) override { refuse("a boolean"); }
  bool null() override { refuse("null"); }
  bool binary(binary_t& /*value*/) override { refuse("binary data"); }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fail("the header is not valid JSON near its byte {}", position);
  }

 private:
  bool is_metadata() const { return name_ == kMetadata; }

  void finish_tensor() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (fields_.count(field) == 0) fail("tensor '{}' has no {}", printable(name_), field);
    }
    header.tensors.emplace(name_, std::move(entry_));
  }

  [[noreturn]] void refuse(std::string_view found) const {
    fail("the header has {} where it does not belong (at '{}', '{}')", found, printable(name_),
         printable(field_));
  }

  int depth_ = 0;  // 1 in the list of tensors, 2 in a tensor's entry or in the metadata
  bool in_array_ = false;
  std::string name_;   // the last key at depth 1
  std::string field_;  // the last key at depth 2
  std::set<std::string> names_;
  std::set<std::string> fields_;
  HeaderEntry entry_;
  std::vector<int64_t> numbers_;
};

}  // namespace

Header parse_header(std::string_view text) {
  HeaderReader reader;
  Json::sax_parse(text.begin(), text.end(), &reader);
  return std::move(reader.header);
}

}  // namespace soft
