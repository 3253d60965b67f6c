#include "model/drop.h"

#include <algorithm>
#include <cmath>

#include "attention/fast_path.h"
#include "attention/torch.h"
#include "attention/weight_dropout.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "kernels/dropout.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr uint64_t kDrop = 4;  // behind the purposes of data/collate.cpp

struct Present {
  SampleKeys keys;
  uint64_t draws = 0;
};
thread_local Present* present = nullptr;

at::Generator default_generator() { return at::globalContext().defaultGenerator(at::kCPU); }

// Two elements from each 64 random bits.
void fill(Random random, double keep, float* mask, int64_t count) {
  const auto limit = static_cast<uint64_t>(std::llround(keep * 0x1p32));
  const auto kept = static_cast<float>(1 / keep);
  for (int64_t i = 0; i < count; i += 2) {
    const uint64_t bits = random.next();
    mask[i] = (bits >> 32) < limit ? kept : 0;
    if (i + 1 < count) mask[i + 1] = (bits & 0xffffffffu) < limit ? kept : 0;
  }
}

// 1 / keep where something is kept and 0 elsewhere, `count` numbers a sample.
Tensor keyed_mask(const Tensor& branch, double rate, int64_t count) {
  const SampleKeys& keys = present->keys;
  const auto samples = static_cast<int64_t>(keys.positions.size());
  if (branch.size(0) != samples) {
    fail("{} samples are to be dropped from, but {} are known", branch.size(0), samples);
  }
  const uint64_t draw = present->draws++;
  const Tensor mask = torch::empty({samples, count});
  float* values = mask.data_ptr<float>();
  parallel_for(samples, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Random random(keys.seed, {static_cast<uint64_t>(keys.epoch), kDrop,
                                      static_cast<uint64_t>(keys.positions[i]), draw});
      fill(random, 1 - rate, values + i * count, count);
    }
  });
  return mask.to(branch.scalar_type());
}

// A dense tensor is cut into rows of this many floats, whatever its shape.
constexpr int64_t kRow = 4096;

Tensor without_dropped(const Tensor& x, const Dropout& dropout) {
  const Tensor in = x.contiguous(), out = torch::empty_like(in);
  const int64_t count = in.numel();
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  parallel_for((count + kRow - 1) / kRow, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * kRow;
      drop_row(dropout, row, 0, std::min(kRow, count - at), from + at, to + at);
    }
  });
  return out;
}

// Keeps two numbers for the way back instead of a mask.
class FusedDropout : public torch::autograd::Function<FusedDropout> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, double rate, int64_t seed) {
    context->saved_data["rate"] = rate;
    context->saved_data["seed"] = seed;
    return without_dropped(x, {static_cast<float>(rate), static_cast<uint64_t>(seed)});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Dropout dropout{static_cast<float>(context->saved_data["rate"].toDouble()),
                          static_cast<uint64_t>(context->saved_data["seed"].toInt())};
    return {without_dropped(gradients[0], dropout), Tensor(), Tensor()};
  }
};

}  // namespace

SampleScope::SampleScope(SampleKeys keys) {
  if (present != nullptr) fail("one batch at a time");
  present = new Present{std::move(keys), 0};
}

SampleScope::~SampleScope() {
  delete present;
  present = nullptr;
}

DropPoint next_drops() {
  DropPoint point;
  if (present != nullptr) point = {present->keys, present->draws, {}};
  point.generator = default_generator().get_state();
  return point;
}

DropAgain::DropAgain(const DropPoint& point)
    : before_(present), generator_(default_generator().get_state()) {
  present = point.keys ? new Present{*point.keys, point.draws} : nullptr;
  default_generator().set_state(point.generator);
}

DropAgain::~DropAgain() {
  delete present;
  present = static_cast<Present*>(before_);
  default_generator().set_state(generator_);
}

Tensor drop_elements(const Tensor& branch, double rate) {
  if (present == nullptr && fast_path_applies(branch)) {
    count_fast_path(FastPath::kDropout);
    return FusedDropout::apply(branch, rate, static_cast<int64_t>(drawn_seed()));
  }
  if (present == nullptr) return torch::dropout(branch, rate, true);
  return branch * keyed_mask(branch, rate, branch.numel() / branch.size(0)).view(branch.sizes());
}

Tensor drop_samples(const Tensor& branch, double rate) {
  std::vector<int64_t> one_each(branch.dim(), 1);  // for tokens [B, n, C] as for maps [B, C, H, W]
  one_each[0] = branch.size(0);
  if (present != nullptr) return branch * keyed_mask(branch, rate, 1).view(one_each);
  const Tensor keep = torch::empty(one_each, branch.options()).bernoulli_(1 - rate);
  return branch * keep / (1 - rate);
}

}  // namespace soft
