// Layers in bytes (docs/weights_format.md). A linear layer or convolution X whose X.weight is I8
// has two tensors more: X.weight_scale [out] and X.input_range [2]. They stand for
//   weight[o, …] = X.weight_scale[o]·X.weight[o, …]
// and for inputs from X.input_range[0] to X.input_range[1] in 255 equal steps. A linear layer may
// be without input_range: then the steps lie between each row's own extremes, once X.input_mean
// [in], where there is one, has been taken off it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weights/weights.h"

namespace soft {

std::string int8_scale_name(const std::string& weight);  // of "X.weight"
std::string int8_range_name(const std::string& weight);
std::string int8_mean_name(const std::string& weight);

// What a layer in bytes has besides weight and bias, as far as it is there.
std::vector<std::string> int8_companions(const Weights& weights, const std::string& weight);

bool is_int8(const Weights& weights, const std::string& weight);  // a layer's weight in bytes
bool has_int8(const Weights& weights);                            // any

struct InputRange {
  float lowest = 0;   // at most 0
  float highest = 0;  // at least 0

  friend bool operator==(const InputRange& a, const InputRange& b) {
    return a.lowest == b.lowest && a.highest == b.highest;
  }
};

struct Int8Layer {
  const int8_t* weight;             // [out, …]
  std::vector<float> scale;         // [out]
  std::optional<InputRange> range;  // none: each row's own
  std::vector<float> mean;          // [in] that is taken off each row before, or empty
};

// What is wrong with a layer's scales or range, in a few words; "" when nothing is.
std::string int8_defect(const Weights& weights, const std::string& weight);
Int8Layer int8_layer(const Weights& weights, const std::string& weight);

// Any of the tensors as float32, bytes times their scales. `out` has room for its elements.
void copy_floats(const Weights& weights, const std::string& name, float* out);

// The same weights without any bytes, for those who know floats only.
Weights dequantized(const Weights& weights);

}  // namespace soft
