// Which layers of a model may be bytes: the same pictures with and without, answers side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/quantize_model.h"

namespace soft {

struct Agreement {
  double same = 100;  // per cent of the pictures that get the same answer
  double error = 0;   // size of the logits' difference relative to theirs about their mean
};

// Logits [pictures, classes] of the model in float32 and as bytes.
Agreement compare_answers(const std::vector<float>& floats, const std::vector<float>& bytes,
                          int64_t classes);

// Per cent of the pictures whose best class is the label.
double top1_of(const std::vector<float>& logits, const std::vector<int64_t>& labels,
               int64_t classes);

// Logits of held-out pictures under these weights.
using AskModel = std::function<std::vector<float>(const Weights&)>;

struct Int8Search {
  AskModel all;                   // of all held-out pictures
  AskModel few;                   // of some of them, for the many questions about single layers
  std::vector<float> floats;      // what `all` says in float32
  std::vector<float> few_floats;  // and `few`
  int64_t classes = 0;
  std::vector<RangeRule> rules{std::begin(kRangeRules), std::end(kRangeRules)};  // to try
  double most_lost = 100;  // per cent of pictures that may get another answer
  std::function<void(const std::string& text, double share)> progress;
};

struct Int8Choice {
  RangeRule rule = RangeRule::kMse;
  std::set<size_t> chosen;          // inputs whose layers become bytes
  std::vector<double> layer_error;  // of each input's layers alone
  Agreement agreement;              // of the choice
};

// Tries the rules for the ranges with all layers but `kept`, takes the one whose answers differ
// least, measures each layer alone, and gives back to float32, the worst first, what `most_lost`
// demands.
Int8Choice choose_int8(const QuantizedModel& model, const std::set<size_t>& kept,
                       const Int8Search& search);

// Inputs of which a layer is named, itself or with everything around it ("block4", "head"); a usage
// error when there is no such layer.
std::set<size_t> kept_inputs(const std::vector<std::string>& names, const QuantizedModel& model);

}  // namespace soft
