#include "engine/calibrate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

constexpr double kOutermost = 1e-5;  // of all values, on each side
constexpr int kSearchSteps = 24;     // of the least error's range, on each side
constexpr int64_t kProductRows = 4;  // one of so many rows counts for the products of channels

float bin_width(const LayerInput& input) {
  return (input.seen.highest - input.seen.lowest) / LayerInput::kBins;
}

// Adds up what threads bring in any order: each part is rounded to a multiple of a unit, so small
// that it hardly matters, and so large that doubles add the multiples without rounding.
class InAnyOrder {
 public:
  // largest: of the numbers that the parts are sums of; up to 2^26 of them altogether.
  explicit InAnyOrder(double largest)
      : rounder_(largest > 0 ? std::ldexp(1.5, 52 - kUnits + std::ilogb(largest) + 1) : 0) {}

  template <class Value>
  void add(const std::vector<Value>& parts, std::vector<double>& sums) const {
    sums.resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) sums[i] += (parts[i] + rounder_) - rounder_;
  }

 private:
  static constexpr int kUnits = 26;  // 2^26 of them in the largest number
  double rounder_;
};

// The range without the outermost part on each side.
InputRange percentile(const LayerInput& input) {
  int64_t total = 0;
  for (const int64_t count : input.counts) total += count;
  const auto most = static_cast<int64_t>(kOutermost * static_cast<double>(total));
  int first = 0, last = LayerInput::kBins - 1;
  for (int64_t cut = input.counts[first]; first < last && cut <= most;)
    cut += input.counts[++first];
  for (int64_t cut = input.counts[last]; last > first && cut <= most;) cut += input.counts[--last];
  const float width = bin_width(input), lowest = input.seen.lowest;
  return {std::min(0.0f, lowest + static_cast<float>(first) * width),
          std::max(0.0f, lowest + static_cast<float>(last + 1) * width)};
}

// Squared error of rounding inside the range and of clipping outside, summed over all values.
double squared_error(const LayerInput& input, const InputRange& range) {
  const double step = (static_cast<double>(range.highest) - range.lowest) / 255;
  const double width = bin_width(input);
  double error = 0;
  for (int i = 0; i < LayerInput::kBins; ++i) {
    const double value = input.seen.lowest + (i + 0.5) * width;
    const double outside = std::max({range.lowest - value, value - range.highest, 0.0});
    const double each = outside > 0 ? outside * outside : step * step / 12;
    error += each * static_cast<double>(input.counts[i]);
  }
  return error;
}

InputRange least_error(const LayerInput& input) {
  InputRange best = input.seen;
  double least = squared_error(input, best);
  const auto shrunk = [](float end, int step) {
    return end * static_cast<float>(kSearchSteps - step) / kSearchSteps;
  };
  for (int low = 0; low < kSearchSteps; ++low) {
    for (int high = 0; high < kSearchSteps; ++high) {
      const InputRange range{shrunk(input.seen.lowest, low), shrunk(input.seen.highest, high)};
      const double error = squared_error(input, range);
      if (error < least) least = error, best = range;
    }
  }
  return best;
}

}  // namespace

std::string_view name_of(RangeRule rule) {
  constexpr std::string_view kNames[] = {"min-max", "percentile", "mse", "rows"};
  return kNames[static_cast<size_t>(rule)];
}

RangeRule range_rule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const RangeRule rule : kRangeRules) {
    if (name_of(rule) == name) return rule;
    names.push_back(name_of(rule));
  }
  fail_usage("--ranges: no rule is called '{}'{}; there are {}", name, hint(name, names),
             fmt::join(names, ", "));
}

InputRange LayerInput::range(RangeRule rule) const {
  if (!(seen.highest > seen.lowest)) return {0, 1};  // nothing but zeros
  switch (rule) {
    case RangeRule::kMinMax:
      break;
    case RangeRule::kPercentile:
      return percentile(*this);
    case RangeRule::kMse:
    case RangeRule::kRows:
      return least_error(*this);
  }
  return seen;
}

Calibration::Entry& Calibration::entry_of(const std::vector<std::string>& layers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Entry>& entry = entries_[layers.front()];
  if (!entry) {
    entry = std::make_unique<Entry>();
    entry->input.layers = layers;
    entry->order = static_cast<int64_t>(entries_.size());
  }
  return *entry;
}

void Calibration::widen(Entry& entry, const float* values, int64_t count) {
  const auto [least, most] = std::minmax_element(values, values + count);
  const std::lock_guard<std::mutex> lock(entry.mutex);
  InputRange& seen = entry.input.seen;
  seen = {std::min(seen.lowest, *least), std::max(seen.highest, *most)};
}

void Calibration::count(Entry& entry, const float* values, int64_t rows, int64_t channels) {
  LayerInput& input = entry.input;
  const float lowest = input.seen.lowest, width = bin_width(input);
  const double largest = std::max(-lowest, input.seen.highest);
  std::array<int64_t, LayerInput::kBins> counts{};
  std::vector<double> sums(channels);
  static thread_local std::vector<float> products;  // tens of megabytes at most
  products.resize(channels * channels);
  gemm({channels, channels, (rows + kProductRows - 1) / kProductRows},
       {values, kProductRows * channels, true}, {values, kProductRows * channels}, products.data(),
       channels);
  for (int64_t i = 0; i < rows * channels; ++i) {
    const float bin = width > 0 ? (values[i] - lowest) / width : 0.0f;
    ++counts[std::clamp(static_cast<int>(bin), 0, LayerInput::kBins - 1)];
    sums[i % channels] += values[i];
  }
  const std::lock_guard<std::mutex> lock(entry.mutex);
  for (int i = 0; i < LayerInput::kBins; ++i) input.counts[i] += counts[i];
  input.rows += rows;
  InAnyOrder(largest).add(sums, input.sums);
  InAnyOrder(largest * largest).add(products, entry.products);
}

InputWatch Calibration::watch() {
  return [this](const std::vector<std::string>& layers, const float* values, int64_t rows,
                int64_t channels) {
    Entry& entry = entry_of(layers);
    counting_ ? count(entry, values, rows, channels) : widen(entry, values, rows * channels);
  };
}

void Calibration::begin_counting() { counting_ = true; }

std::vector<LayerInput> Calibration::inputs() const {
  std::vector<const Entry*> sorted;
  for (const auto& [name, entry] : entries_) sorted.push_back(entry.get());
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry* a, const Entry* b) { return a->order < b->order; });
  std::vector<LayerInput> inputs;
  for (const Entry* entry : sorted) {
    inputs.push_back(entry->input);
    inputs.back().products.assign(entry->products.begin(), entry->products.end());
  }
  return inputs;
}

}  // namespace soft
