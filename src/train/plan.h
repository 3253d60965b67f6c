// From a request to everything a run needs, decided before anything is written: model, recipe and
// data.
#pragma once

#include "data/dataset.h"
#include "train/recipe.h"
#include "weights/weights.h"
#include "wing/training.h"

namespace soft {

// What recipe.json holds: enough to run the same training again.
struct RunFile {
  std::string data;
  ModelSpec spec;
  Recipe recipe;
  int64_t limit_train = 0, limit_val = 0;
  std::string init;
  bool freeze = false;
};

Json to_json(const RunFile& run);
RunFile read_run_file(const std::string& path);

// The run that a request describes: stored values first, then what the request says. On resume a
// difference from what is stored is refused, naming the keys, unless the request allows it.
RunFile resolve(const TrainRequest& request);

struct Plan {
  RunFile run;
  Dataset train, val;
  Preprocessing preprocessing;
  Card card;  // what the weights files will say
};

// Opens the data, fits the model to it (classes) and checks that all of it can work.
Plan make_plan(RunFile run);

Json describe(const Plan& plan);  // model, data, schedule and cost, for people and for --dry-run

}  // namespace soft
