#include "engine/int8_weights.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "engine/dense.h"
#include "engine/feedback.h"

namespace soft {
namespace {

constexpr float kLargest = 127;

struct SumsSoFar {
  int above = 0, below = 0;  // of the weights above zero, and of the others
};

// One output channel, its weights in the order in which they are multiplied: [segments, inner].
struct Channel {
  const Int8Shape& shape;
  const std::vector<Int8Sum>& sums;  // of a segment
  const std::vector<int>& sum_of;    // each inner index, its place in `sums`
  std::vector<float> value;
  std::vector<int8_t> byte;

  // The scale at which nothing has to give way, but for roundings.
  float widest() const {
    float largest = 0, sum_of_one_sign = 0;
    for (const float v : value) largest = std::max(largest, std::abs(v));
    for (int64_t s = 0; s < shape.segments; ++s) {
      for (const Int8Sum& sum : sums) {
        float above = 0, below = 0;
        for (int i = 0; i < sum.count; ++i) {
          const float v = value[s * shape.inner + sum.index[i]];
          (v > 0 ? above : below) += v;
        }
        sum_of_one_sign = std::max({sum_of_one_sign, above, -below});
      }
    }
    return std::max(largest / kLargest, sum_of_one_sign / static_cast<float>(kInt8Limit));
  }

  // Of the weights with the sign that is too much, the one that stands farthest above its value
  // goes back by one, until the sum fits.
  void make_room(const Int8Sum& sum, const float* wanted, int8_t* line, float scale) const {
    while (!int8_fits(sum, line)) {
      int total = 0;
      for (int i = 0; i < sum.count; ++i) total += line[sum.index[i]];
      const int sign = total > 0 ? 1 : -1;
      int64_t most = -1;
      float excess = 0;
      for (int i = 0; i < sum.count; ++i) {
        const int64_t k = sum.index[i];
        if (line[k] * sign <= 0) continue;
        const float above =
            static_cast<float>(sign) * (static_cast<float>(line[k]) * scale - wanted[k]);
        if (most < 0 || above > excess) most = k, excess = above;
      }
      line[most] = static_cast<int8_t>(line[most] - sign);
    }
  }

  double try_scale(float scale) {
    for (size_t i = 0; i < value.size(); ++i) {
      byte[i] =
          static_cast<int8_t>(std::clamp(std::nearbyint(value[i] / scale), -kLargest, kLargest));
    }
    for (int64_t s = 0; s < shape.segments; ++s) {
      const int64_t at = s * shape.inner;
      for (const Int8Sum& sum : sums) make_room(sum, value.data() + at, byte.data() + at, scale);
    }
    double error = 0;
    for (size_t i = 0; i < value.size(); ++i) {
      const double difference = static_cast<double>(byte[i]) * scale - value[i];
      error += difference * difference;
    }
    return error;
  }

  // The nearest byte that leaves its sum within bounds, whatever is to come.
  static int8_t nearest_with_room(float wanted, const SumsSoFar& sum) {
    const auto room = [](int64_t left) { return std::min(static_cast<float>(left), kLargest); };
    return static_cast<int8_t>(std::clamp(std::nearbyint(wanted), -room(kInt8Limit + sum.below),
                                          room(kInt8Limit - sum.above)));
  }

  void round_in_order(float scale, const Feedback& feedback) {
    std::vector<float> wanted = value;
    std::vector<SumsSoFar> so_far(sums.size() * shape.segments);
    const auto n = feedback.inputs;
    for (int64_t i = 0; i < static_cast<int64_t>(value.size()); ++i) {
      SumsSoFar& sum = so_far[i / shape.inner * sums.size() + sum_of[i % shape.inner]];
      byte[i] = nearest_with_room(wanted[i] / scale, sum);
      (byte[i] > 0 ? sum.above : sum.below) += byte[i];
      const float error = value[i] - static_cast<float>(byte[i]) * scale;
      const float* weight = feedback.weight.data() + i % n * n;
      float* next = wanted.data() + i / n * n;
      for (int64_t k = i % n + 1; k < n; ++k) next[k] += error * weight[k];
    }
  }

  float quantize(const Feedback* feedback) {
    const float widest = this->widest();
    if (!(widest > 0)) return 1;  // all zero
    float best = widest;
    double least = INFINITY;
    for (const float factor : {1.0f, 0.9f, 0.8f, 0.7f, 0.6f, 0.5f}) {
      const double error = try_scale(widest * factor);
      if (error < least) least = error, best = widest * factor;
    }
    feedback ? round_in_order(best, *feedback) : static_cast<void>(try_scale(best));
    return best;
  }
};

}  // namespace

Int8Channels quantize_weights(const DenseShape& shape, const float* weight,
                              const Feedback* feedback) {
  const Int8Shape bytes{shape.out, shape.kernel * shape.in, shape.kernel};
  const std::vector<Int8Sum> sums = int8_sums(bytes.inner, kInt8Deepest);
  std::vector<int> sum_of(bytes.inner);
  for (size_t s = 0; s < sums.size(); ++s) {
    for (int i = 0; i < sums[s].count; ++i) sum_of[sums[s].index[i]] = static_cast<int>(s);
  }
  const int64_t taps = shape.kernel * shape.kernel, each = taps * shape.in;
  Int8Channels channels{std::vector<int8_t>(shape.out * each), std::vector<float>(shape.out)};
  parallel_for(shape.out, [&](int64_t begin, int64_t end) {
    Channel channel{bytes, sums, sum_of, std::vector<float>(each), std::vector<int8_t>(each)};
    for (int64_t o = begin; o < end; ++o) {
      const auto at = [&](int64_t i) { return o * each + i % shape.in * taps + i / shape.in; };
      for (int64_t i = 0; i < each; ++i) channel.value[i] = weight[at(i)];
      channels.scale[o] = channel.quantize(feedback);
      for (int64_t i = 0; i < each; ++i) channels.weight[at(i)] = channel.byte[i];
    }
  });
  return channels;
}

}  // namespace soft
