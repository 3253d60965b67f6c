#include "train/plan_keys.h"

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/setting.h"
#include "spec/all_models.h"

namespace soft {
namespace {

// Settings of the model; where a file or a run says which model that is, of any model.
std::vector<std::string_view> model_keys(const TrainRequest& request) {
  std::vector<std::string_view> keys;
  const auto add = [&](const ModelSpec& spec) {
    for (const FieldHelp& help : field_help(spec)) {
      if (std::find(keys.begin(), keys.end(), help.key) == keys.end()) keys.push_back(help.key);
    }
  };
  if (!request.model.empty()) {
    add(find_model(request.model));
    return keys;
  }
  for (const std::string_view name : all_model_names()) add(find_model(name));
  return keys;
}

}  // namespace

void check_setting_keys(const TrainRequest& request) {
  std::vector<std::string_view> known = recipe_field_names();
  for (const std::string_view key : model_keys(request)) known.push_back(key);
  for (const std::string& text : request.settings) {
    const std::string key = parse_setting(text).key;
    if (key == "classes") fail_usage("the data decide on classes; leave --set classes out");
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fail_usage("unknown setting '{}'{}; `soft train --list-settings` lists all of them", key,
               hint(key, known));
  }
}

}  // namespace soft
