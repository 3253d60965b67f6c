#include "spec/zoo_fields.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/setting.h"

namespace soft {
namespace {

// What every model has beside its family's numbers.
struct Common {
  std::string_view key;
  int ModelSpec::*member;
};
constexpr Common kCommon[] = {{"image_size", &ModelSpec::image_size},
                              {"classes", &ModelSpec::classes}};

}  // namespace

bool is_in_zoo(const std::string& name) {
  const auto& table = zoo_table();
  return std::any_of(table.begin(), table.end(), [&](const ZooRow& r) { return r.name == name; });
}

void set_zoo_number(ModelSpec& spec, std::string_view key, std::string_view value) {
  std::vector<std::string_view> keys;
  for (Numbers& numbers : spec.numbers) {
    keys.push_back(numbers.key);
    if (numbers.key == key) {
      numbers.values = parse_list(key, value, numbers.values.size());
      return;
    }
  }
  for (const Common& common : kCommon) {
    keys.push_back(common.key);
    if (common.key == key) {
      spec.*common.member = parse_whole<int>(key, value);
      return;
    }
  }
  fail_usage("{} has no setting '{}'{}; its own are {}", spec.name, key, hint(key, keys),
             fmt::join(keys, ", "));
}

Json zoo_numbers(const ModelSpec& spec) {
  Json json = Json::object();
  for (const Common& common : kCommon) {
    json[std::string(common.key)] = std::to_string(spec.*common.member);
  }
  for (const Numbers& numbers : spec.numbers) {
    json[numbers.key] = fmt::format("{}", fmt::join(numbers.values, ","));
  }
  return json;
}

ModelSpec zoo_spec_from_json(const Json& json, const std::string& what) {
  ModelSpec spec = find_model(json["name"].get<std::string>());
  try {
    for (const auto& [key, value] : json.items()) {
      if (key == "name" || key == "family") continue;
      if (!value.is_string()) fail("'{}' is not text", key);
      set_zoo_number(spec, key, value.get<std::string>());
    }
    validate(spec);
  } catch (const Error& error) {
    fail("{}: {}", what, error.what());
  }
  return spec;
}

}  // namespace soft
