// A model ready to answer. Which engine runs it is decided here, once, for every command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/grid.h"
#include "cli/model_options.h"
#include "weights/weights.h"

namespace soft {

struct Runner {
  Card card;  // of the weights, with --attention and --set applied to its spec
  // Normalised pixels [count, 3, size.h, size.w] -> logits [count, classes].
  std::function<std::vector<float>(const float* pixels, int64_t count, Grid size)> logits;
};

void add_engine_flag(CLI::App* command, std::string& engine);

// Without --weights the model in the box is opened.
Runner open_runner(ModelOptions options, const std::string& engine);

}  // namespace soft
