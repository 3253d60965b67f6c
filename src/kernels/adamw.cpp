#include "kernels/adamw.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adamw.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include "hwy/highway.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {
namespace {

void step_slice(const AdamWStep& step, const AdamWSlice& at) {
  for_each_column(at.count, [&](auto d, int64_t j) HWY_ATTR {
    const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
    const auto g = hn::Mul(set(step.clip), hn::LoadU(d, at.gradient + j));
    const auto mean =
        hn::MulAdd(set(step.gain1), g, hn::Mul(set(step.beta1), hn::LoadU(d, at.mean + j)));
    const auto square = hn::MulAdd(hn::Mul(set(step.gain2), g), g,
                                   hn::Mul(set(step.beta2), hn::LoadU(d, at.square + j)));
    const auto size = hn::Add(hn::Div(hn::Sqrt(square), set(step.correction)), set(step.epsilon));
    const auto kept = hn::Mul(set(step.keep), hn::LoadU(d, at.parameter + j));
    hn::StoreU(mean, d, at.mean + j);
    hn::StoreU(square, d, at.square + j);
    hn::StoreU(hn::NegMulAdd(set(step.rate), hn::Div(mean, size), kept), d, at.parameter + j);
  });
}

// Blocks short enough for float, and the blocks in double.
double squares(const float* values, int64_t count) {
  constexpr int64_t kBlock = 256;
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    ColumnSum sum;
    for_each_column(std::min(kBlock, count - begin), [&](auto d, int64_t j) HWY_ATTR {
      const auto value = hn::LoadU(d, values + begin + j);
      sum.add(d, hn::Mul(value, value));
    });
    total += static_cast<double>(sum.total());
  }
  return total;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace soft {

HWY_EXPORT(step_slice);
HWY_EXPORT(squares);

void adamw(const AdamWStep& step, const AdamWSlice& slice) {
  HWY_DYNAMIC_DISPATCH(step_slice)(step, slice);
}

double sum_of_squares(const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(squares)(values, count);
}

}  // namespace soft
#endif
