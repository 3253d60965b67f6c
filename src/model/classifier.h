// A picture classifier built from its row in the table of models: pyramid or flat, any mechanism,
// any image of at least 32 pixels a side. Parameters carry the names of published checkpoints.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <memory>
#include <vector>

#include "model/layer.h"
#include "model/patch_embed.h"

namespace soft {

class Classifier : public torch::nn::Module {
 public:
  explicit Classifier(const ModelSpec& spec);

  torch::Tensor forward(const torch::Tensor& images);  // [B, 3, H, W] -> logits [B, classes]

  // Maps after each stage, [B, C, H, W] at strides 4, 8, 16, 32; the last one after the final norm
  // and without its class token.
  std::vector<torch::Tensor> features(const torch::Tensor& images);

  // Row `query` (counted on the stage's grid) of every head's attention matrix in one layer, or in
  // `count` of them one after another: [B, count·h, n]; class tokens come first in n.
  torch::Tensor attention_row(const torch::Tensor& images, int stage, int layer, int64_t query,
                              int count = 1);

  // The first place whose output for these images is not finite; "" when all are.
  std::string first_not_finite(const torch::Tensor& images);

  // Drop rates grow linearly from 0 in the first layer to `rate` in the last.
  void set_drop_path(double rate, bool whole_samples = false);

  // Before each step of training, counted from 0: mechanisms that draw at random may draw anew.
  void start_step(int64_t step);

  const ModelSpec& spec() const { return spec_; }

 private:
  struct Stage {
    std::shared_ptr<PatchEmbed> embed;
    torch::Tensor positions;  // [1, n, C]
    std::vector<std::shared_ptr<Layer>> layers;
  };
  struct Sequence {
    torch::Tensor x;  // [B, n, C]
    Tokens tokens;
  };

  void register_stage(int stage);
  Sequence enter_stage(int stage, const torch::Tensor& map);
  Sequence run_stage(int stage, const torch::Tensor& map);
  torch::Tensor positions_for(int stage, Grid grid) const;
  void check_input(const torch::Tensor& images) const;
  void check_layer(int stage, int layer) const;

  ModelSpec spec_;
  std::vector<Stage> stages_;
  torch::Tensor class_token_;  // [1, 1, C]
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Linear head_{nullptr};
};

}  // namespace soft
