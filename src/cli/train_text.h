// What `soft train` says to people, in lines of at most 80 columns.
#pragma once

#include <string>
#include <vector>

#include "wing/training.h"

namespace soft {

// The plan of a run: model, data, recipe and schedule, and what was measured where it was.
std::vector<std::string> plan_lines(const Json& plan);

// "2 h 5 min", "3 min 20 s", "12 s".
std::string duration_text(double seconds);

// How much the attention of each layer adds, one line; of a deep model the least and the most.
std::string health_text(const std::vector<LayerHealth>& layers);

// Every key of --set with its value and meaning; as one array with `json`.
void print_settings(const std::vector<SettingRow>& rows, bool json);

}  // namespace soft
