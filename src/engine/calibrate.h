// What the layers of a model read, gathered from pictures: first the extremes, then how the values
// lie between them. From that follows the range that a layer's bytes cover. The same pictures give
// the same bits, in whatever order threads bring them.
//
//   Calibration calibration;
//   const Packed model(weights, spec, LinearForm::kBest, calibration.watch());
//   … forward over all pictures; calibration.begin_counting(); … and once more
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "weights/int8.h"

namespace soft {

// How a range is chosen: all that was seen; all but the outermost hundred-thousandth on each side;
// with the least squared error of rounding and clipping together; or, where a layer is linear, each
// row's own, and in other layers as before.
enum class RangeRule { kMinMax, kPercentile, kMse, kRows };
constexpr RangeRule kRangeRules[] = {RangeRule::kMinMax, RangeRule::kPercentile, RangeRule::kMse,
                                     RangeRule::kRows};
std::string_view name_of(RangeRule rule);
RangeRule range_rule(std::string_view name);  // usage error with the nearest name

// One input, and the layers that read it.
struct LayerInput {
  static constexpr int kBins = 2048;

  std::vector<std::string> layers;  // "block1.0.att.mha.W_q", …
  InputRange seen;
  std::array<int64_t, kBins> counts{};  // over `seen`, in equal steps
  std::vector<double> sums;             // of each channel
  int64_t rows = 0;                     // that these are sums of
  std::vector<float> products;          // of channels, [C, C], summed over some of the rows

  InputRange range(RangeRule rule) const;
};

class Calibration {
 public:
  InputWatch watch();
  void begin_counting();

  // In the order in which the model first read them.
  std::vector<LayerInput> inputs() const;

 private:
  struct Entry {
    LayerInput input;
    std::vector<double> products;  // input.products so far
    int64_t order = 0;
    std::mutex mutex;
  };
  Entry& entry_of(const std::vector<std::string>& layers);
  static void widen(Entry& entry, const float* values, int64_t count);
  static void count(Entry& entry, const float* values, int64_t rows, int64_t channels);

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;  // by the first layer's name
  bool counting_ = false;
};

}  // namespace soft
