#include "train/run_file.h"

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/file.h"
#include "data/sha256.h"

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

// The folder in which a spec's files are: of shards, a part of what names them.
std::string folder_of(const std::string& data) {
  const size_t colon = data.find(':');
  if (colon == std::string::npos) return data;
  std::string folder = data.substr(colon + 1);
  if (data.rfind("tar:", 0) == 0 && folder.find_first_of("{*?") != std::string::npos) {
    folder.resize(folder.find_first_of("{*?"));
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
  }
  return folder;
}

// The name of a picture inside its data: where the folder stands is no part of it.
std::string_view name_inside(const std::string& description, const std::string& folder) {
  const bool inside = description.rfind(folder, 0) == 0;
  return std::string_view(description).substr(inside ? folder.size() : 0);
}

void add_listing(Sha256& sum, const Dataset& dataset) {
  const std::string folder = folder_of(dataset.name);
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const std::string description = dataset.describe(i);
    const std::string line =
        fmt::format("{}\n{}\n", name_inside(description, folder), dataset.labels[i]);
    sum.add(reinterpret_cast<const uint8_t*>(line.data()), line.size());
  }
}

std::string missing_from(const std::vector<std::string>& names,
                         const std::vector<std::string>& among) {
  std::string missing;
  for (const std::string& name : names) {
    if (std::find(among.begin(), among.end(), name) != among.end()) continue;
    missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", name);
  }
  return missing.empty() ? "none" : missing;
}

}  // namespace

bool is_run_file(const std::string& recipe) {
  const std::string ending = ".json";
  return recipe.size() > ending.size() &&
         recipe.compare(recipe.size() - ending.size(), ending.size(), ending) == 0;
}

Json to_json(const RunFile& run) {
  return {{"data", run.data},           {"limit_train", run.limit_train},
          {"limit_val", run.limit_val}, {"val_fraction", run.val_fraction},
          {"strict", run.strict},       {"init", run.init},
          {"freeze", run.freeze},       {"world", run.world},
          {"classes", run.classes},     {"listing", run.listing},
          {"model", to_json(run.spec)}, {"recipe", to_json(run.recipe)}};
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
    run.classes = json.value("classes", std::vector<std::string>());
    run.listing = json.value("listing", std::string());
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

std::string listing_of(const Dataset& train, const Dataset& val) {
  Sha256 sum;
  add_listing(sum, train);
  add_listing(sum, val);
  return sum.hex();
}

void check_same_data(const RunFile& stored, const RunFile& now, bool allow_change) {
  if (!stored.classes.empty() && stored.classes != now.classes) {
    fail(
        "the classes of '{}' are not those this run began with: gone {}, new {}; labels would "
        "change their meaning. Put them back, or begin a new run",
        now.data, missing_from(stored.classes, now.classes),
        missing_from(now.classes, stored.classes));
  }
  if (stored.listing.empty() || stored.listing == now.listing || allow_change) return;
  fail(
      "the pictures of '{}' are not those this run began with: files came, went or were renamed. "
      "Put them back, or add --allow-change",
      now.data);
}

}  // namespace soft
