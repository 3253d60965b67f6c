// What recipe.json holds: enough to run the same training again, and to notice that its data
// changed.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "spec/model_spec.h"
#include "train/recipe.h"

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
  int world = 1;                     // ranks, each with recipe.batch pictures
  std::vector<std::string> classes;  // as the data had them; none in files of older versions
  std::string listing;               // digest of names and labels of all pictures; likewise
};

Json to_json(const RunFile& run);
RunFile read_run_file(const std::string& path);
RunFile parse_run_file(const std::string& text, const std::string& path);
bool is_run_file(const std::string& recipe);  // rather than the name of a preset

// Keys whose values differ, "recipe.epochs, data", for a refusal.
std::string differences(const RunFile& a, const RunFile& b);
std::string differing_keys(const Json& a, const Json& b);  // of two to_json

// Over the names and labels of both splits; where the data's folder stands makes no difference.
std::string listing_of(const Dataset& train, const Dataset& val);

// Fails when the data of a resumed run are not those it began with, by the name of the class.
// Pictures that came or went are refused, too, unless the change is allowed.
void check_same_data(const RunFile& stored, const RunFile& now, bool allow_change);

}  // namespace soft
