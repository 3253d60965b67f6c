// From a request to everything a run needs, decided before anything is written: model, recipe and
// data.
#pragma once

#include "data/dataset.h"
#include "train/run_file.h"
#include "weights/weights.h"
#include "wing/training.h"

namespace soft {

struct Plan {
  RunFile run;
  Dataset train, val;
  Preprocessing preprocessing;
  Card card;        // what the weights files will say
  std::string why;  // this recipe, where none was named
};

// Stored values first, then what the request says; on resume a difference from what is stored is
// refused, naming the keys, unless the request allows it. Opens the data, fits the model to it
// (classes), chooses a recipe where none is named and checks that all of it can work.
Plan make_plan(const TrainRequest& request);

int64_t steps_of(const Plan& plan);  // optimizer steps of the whole run

Json describe(const Plan& plan);  // model, data, schedule and cost, for people and for --dry-run

// Every key of --set with its value for this request's model and recipe.
std::vector<SettingRow> list_settings(const TrainRequest& request);

}  // namespace soft
