// What recipe.json holds: enough to run the same training again, and to notice that its data
// changed.
#pragma once

#include <string>
#include <vector>

#include "spec/model_spec.h"
#include "train/recipe.h"
#include "train/same_data.h"

namespace soft {

struct RunFile {
  std::string data;
  ModelSpec spec;
  Recipe recipe;
  int64_t limit_train = 0, limit_val = 0;
  double val_fraction = 0;  // of the training pictures held out; 0: the set has its own
  bool strict = false;      // folders: every file is a picture
  std::string init;
  bool freeze = false;
  int world = 1;  // ranks, each with recipe.batch pictures
  DataMark mark;  // as the data had it
};

Json to_json(const RunFile& run);
RunFile read_run_file(const std::string& path);
RunFile parse_run_file(const std::string& text, const std::string& path);
bool is_run_file(const std::string& recipe);  // rather than the name of a preset

// Keys whose values differ, "recipe.epochs, data", for a refusal.
std::string differences(const RunFile& a, const RunFile& b);
std::string differing_keys(const Json& a, const Json& b);  // of two to_json

}  // namespace soft
