#include "plot/scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

constexpr int kWantedTicks = 6;

// The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most kWantedTicks.
double round_step(double span) {
  const double rough = span / kWantedTicks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string with_separators(std::string digits) {
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > (digits[0] == '-' ? 1 : 0); i -= 3) {
    digits.insert(static_cast<size_t>(i), ",");
  }
  return digits;
}

}  // namespace

std::string short_number(double value) {
  if (value == 0) return "0";  // -0 too
  const double size = std::abs(value);
  if (size < 1e-3 || size >= 1e7) {
    const auto exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
    return fmt::format("{:.3g}e{}", value / std::pow(10, exponent), exponent);
  }
  if (value == std::round(value)) return with_separators(fmt::format("{:.0f}", value));
  return fmt::format("{:.4g}", value);
}

Scale::Scale(const Axis& axis, const std::vector<double>& values) : log_(axis.log) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!shows(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = log_ ? 1 : 0, high = log_ ? 10 : 1;
  log_ ? make_log(low, high, axis) : make_linear(low, high, axis);
}

bool Scale::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

void Scale::make_linear(double low, double high, const Axis& axis) {
  low = axis.low.value_or(low);
  high = axis.high.value_or(high);
  if (high <= low) high = low + std::max(1.0, std::abs(low));
  const double step = round_step(high - low);
  low_ = axis.low ? low : std::floor(low / step + 1e-9) * step;
  high_ = axis.high ? high : std::ceil(high / step - 1e-9) * step;
  for (double at = std::ceil(low_ / step - 1e-9); at * step <= high_ + step * 1e-9; ++at) {
    ticks_.push_back({at * step, short_number(at * step)});
  }
}

// Numbers at the powers of ten; with less than two of them also at 2 and 5; marks at the rest.
void Scale::make_log(double low, double high, const Axis& axis) {
  low_ = axis.low ? std::log10(*axis.low) : std::log10(low) - 0.04;
  high_ = axis.high ? std::log10(*axis.high) : std::log10(high) + 0.04;
  if (high_ - low_ < 0.2) low_ -= 0.1, high_ += 0.1;
  const bool narrow = high_ - low_ < 2.2;
  for (double power = std::floor(low_); power <= high_; ++power) {
    for (int digit = 1; digit < 10; ++digit) {
      const double value = digit * std::pow(10, power);
      if (std::log10(value) < low_ - 1e-9 || std::log10(value) > high_ + 1e-9) continue;
      const bool named = digit == 1 || (narrow && (digit == 2 || digit == 5));
      ticks_.push_back({value, named ? short_number(value) : ""});
    }
  }
}

void Scale::place(double begin, double end) {
  begin_ = begin;
  end_ = end;
}

double Scale::transformed(double value) const { return log_ ? std::log10(value) : value; }

double Scale::at(double value) const {
  return begin_ + (end_ - begin_) * (transformed(value) - low_) / (high_ - low_);
}

}  // namespace soft
