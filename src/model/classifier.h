// A classifier of pictures. Any frame, any mechanism, any picture of at least 32 pixels a side.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/described_model.h"

namespace soft {

class Classifier : public DescribedModel {
 public:
  explicit Classifier(const ModelSpec& spec);  // described at the spec's own image size

  torch::Tensor forward(const Input& input);  // logits [B, classes]
  torch::Tensor embed(const Input& input);    // what the head reads, [B, C]

  // Maps after each stage, [B, C, H, W] at strides 4, 8, 16, 32; the last one after the final norm
  // and without its class token.
  std::vector<torch::Tensor> features(const Input& input);

  // What one layer mixes, and the mechanism that does it.
  struct Mixing {
    Heads heads;
    Tokens tokens;
    Attention* attention = nullptr;
  };
  Mixing mixing(const Input& input, int stage, int layer);

  // Row `query` (counted on the stage's grid) of every head's attention matrix in one layer, or in
  // `count` of them one after another: [B, count·h, n]; class tokens come first in n. `seen`, if
  // any, is told of each of these layers.
  torch::Tensor attention_row(const Input& input, int stage, int layer, int64_t query,
                              int count = 1, const std::function<void(const Mixing&)>& seen = {});

  // The first place whose output for this input is not finite; "" when all are.
  std::string first_not_finite(const Input& input);

  // Drop rates grow linearly from 0 in the first layer to `rate` in the last.
  void set_drop_path(double rate, bool whole_samples = false) { drop_ = {rate, whole_samples}; }

  // Layers of a training step keep their inputs alone and are computed again on the way back.
  // Throws a usage error when none of them can be.
  void set_recompute(bool recompute);

  const ModelSpec& spec() const { return spec_; }

 private:
  std::shared_ptr<const Route> route_for(const Input& input);
  void watch_mixes(const Input& input, int stage, int layer, int count,
                   const std::function<void(const Mixing&)>& seen);
  void check_layer(int stage, int layer) const;

  ModelSpec spec_;
  std::mutex latest_lock_;
  std::shared_ptr<const Route> latest_;  // of the last input's size
  Grid latest_size_;
};

}  // namespace soft
