#include "base/json.h"

#include <set>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace soft {

// An ordered object finds a key by walking it, so a huge one would take quadratic time.
constexpr size_t kMaxKeys = 10'000;

Json parse_json(std::string_view text, const std::string& what, int max_depth) {
  std::vector<std::set<std::string>> open_objects;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth >= max_depth) fail("{}: nested deeper than {} levels", what, max_depth);
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second) fail("{}: key '{}' appears twice", what, key);
      if (open_objects.back().size() > kMaxKeys) {
        fail("{}: an object has more than {} keys", what, kMaxKeys);
      }
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::exception& error) {
    fail("{}: not valid JSON ({})", what, printable(error.what()));
  }
}

}  // namespace soft
