#include "base/json.h"

#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace soft {
namespace {

// An ordered object finds a key by walking it, so a huge one would take quadratic time to read
// from.
constexpr size_t kMaxKeys = 10'000;
constexpr size_t kMaxValues = 1'000'000;  // objects, lists and what is in them, all together

// Builds the value as the parser goes, in time linear in the text: nothing that is complete is
// looked at again. (The library's own callback walks a list anew for each object that ends inside
// it.)
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const std::string& what, int max_depth)
      : what_(what), max_depth_(static_cast<size_t>(max_depth)) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& text) override { return add(std::move(text)); }
  bool binary(binary_t& /*value*/) override { return false; }  // text has none

  bool start_object(size_t /*members*/) override { return open(Json::object()); }
  bool start_array(size_t /*elements*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& text) override {
    Open& object = open_.back();
    if (!object.keys.insert(text).second)
      fail("{}: key '{}' appears twice", what_, printable(text));
    if (object.keys.size() > kMaxKeys) {
      fail("{}: an object has more than {} keys", what_, kMaxKeys);
    }
    key_ = std::move(text);
    return true;
  }

  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    fail("{}: not valid JSON ({})", what_, printable(error.what()));
  }

 private:
  struct Open {
    Json* value;  // stays where it is: its parent grows only after it is closed
    std::set<std::string> keys;
  };

  Json& place(Json&& value) {
    if (++values_ > kMaxValues) fail("{}: more than {} values", what_, kMaxValues);
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      auto& list = parent.get_ref<Json::array_t&>();
      return list.emplace_back(std::move(value));
    }
    // Behind the back of the ordered map, which would look for the key once more.
    Json::object_t::Container& members = parent.get_ref<Json::object_t&>();
    return members.emplace_back(std::move(key_), std::move(value)).second;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= max_depth_) fail("{}: nested deeper than {} levels", what_, max_depth_);
    Json& placed = place(std::move(value));
    open_.push_back({&placed, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& what_;
  const size_t max_depth_;
  Json root_;
  std::vector<Open> open_;
  std::string key_;
  size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& what, int max_depth) {
  Builder builder(what, max_depth);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

int64_t count_at(const Json& object, const char* key, int64_t most) {
  const Json& value = object.at(key);
  const bool whole = value.is_number_unsigned() || (value.is_number_integer() && value >= 0);
  if (!whole || value.get<uint64_t>() > static_cast<uint64_t>(most)) {
    fail("'{}' is no count up to {}: {}", key, most, value.dump());
  }
  return value.get<int64_t>();
}

}  // namespace soft
