#include "train/run_file.h"

#include <climits>

#include "base/error.h"
#include "base/file.h"

namespace soft {
namespace {

std::string differences(const Json& a, const Json& b, const std::string& prefix) {
  std::string keys;
  for (const auto& [key, value] : a.items()) {
    if (b.contains(key) && b.at(key) == value) continue;
    if (!keys.empty()) keys += ", ";
    const bool nested = value.is_object() && b.contains(key) && b.at(key).is_object();
    keys += nested ? differences(value, b.at(key), prefix + key + ".") : prefix + key;
  }
  return keys;
}

}  // namespace

bool is_run_file(const std::string& recipe) {
  const std::string ending = ".json";
  return recipe.size() > ending.size() &&
         recipe.compare(recipe.size() - ending.size(), ending.size(), ending) == 0;
}

Json to_json(const RunFile& run) {
  return {{"data", run.data},
          {"limit_train", run.limit_train},
          {"limit_val", run.limit_val},
          {"val_fraction", run.val_fraction},
          {"strict", run.strict},
          {"init", run.init},
          {"freeze", run.freeze},
          {"world", run.world},
          {"classes", run.mark.classes},
          {"listing", run.mark.listing},
          {"model", to_json(run.spec)},
          {"recipe", to_json(run.recipe)}};
}

RunFile read_run_file(const std::string& path) { return parse_run_file(read_text(path), path); }

RunFile parse_run_file(const std::string& text, const std::string& path) {
  const Json json = parse_json(text, "'" + path + "'");
  RunFile run;
  try {
    run.data = json.at("data").get<std::string>();
    run.limit_train = count_at(json, "limit_train");
    run.limit_val = count_at(json, "limit_val");
    run.val_fraction = json.value("val_fraction", 0.0);
    run.strict = json.value("strict", false);
    run.init = json.at("init").get<std::string>();
    run.freeze = json.at("freeze").get<bool>();
    if (json.contains("world")) run.world = static_cast<int>(count_at(json, "world", INT_MAX));
    run.mark.classes = json.value("classes", std::vector<std::string>());
    run.mark.listing = json.value("listing", std::string());
    run.spec = spec_from_json(json.at("model"), "'" + path + "'");
    run.recipe = recipe_from_json(json.at("recipe"), "'" + path + "'");
  } catch (const Json::exception& error) {
    fail("'{}' is not a stored recipe: {}", path, error.what());
  }
  return run;
}

std::string differing_keys(const Json& a, const Json& b) { return differences(a, b, ""); }

std::string differences(const RunFile& a, const RunFile& b) {
  return differing_keys(to_json(a), to_json(b));
}

}  // namespace soft
