// The native engine against LibTorch's on the same weights and pictures.
#pragma once

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "attention/torch.h"
#include "base/random.h"
#include "describe/description.h"
#include "engine/engine.h"
#include "model/checkpoint.h"
#include "model/classifier.h"
#include "support/lively.h"

namespace soft::test {

// Both engines of one model.
class Pair {
 public:
  explicit Pair(const ModelSpec& spec) : Pair(spec, LivelyWeights(spec)) {}

  // The largest difference of their logits, as a share of the largest logit.
  double error(Grid size, int64_t count) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor images = noise(size, count);
    const torch::Tensor expected = torch_->forward(images);
    const double difference = (native_logits(images) - expected).abs().max().item<double>();
    return difference / expected.abs().max().item<double>();
  }

  // Whether the native engine gives the same bits again.
  bool repeats(Grid size, int64_t count) {
    const torch::Tensor images = noise(size, count);
    return torch::equal(native_logits(images), native_logits(images));
  }

 private:
  Pair(const ModelSpec& spec, const LivelyWeights& weights)
      : native_(weights.get(), spec), torch_(std::make_shared<Classifier>(spec)) {
    load_weights(*torch_, weights.get());
    torch_->eval();
  }

  static torch::Tensor noise(Grid size, int64_t count) {
    torch::manual_seed(3);
    return torch::randn({count, 3, size.h, size.w});
  }

  torch::Tensor native_logits(const torch::Tensor& images) {
    const int64_t count = images.size(0);
    torch::Tensor logits = torch::empty({count, native_.spec().classes});
    const ImageBatch batch{images.data_ptr<float>(), count, {images.size(2), images.size(3)}};
    forward(native_, workspace_, batch, logits.data_ptr<float>());
    return logits;
  }

  Packed native_;
  Workspace workspace_;
  std::shared_ptr<Classifier> torch_;
};

}  // namespace soft::test
