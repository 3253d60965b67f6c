// A classifier as its description says: it holds the description's tensors under their published
// names and runs its parts in their order (model/run.h). Any frame, any mechanism, any picture of
// at least 32 pixels a side.
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "model/input.h"
#include "model/run.h"

namespace soft {

// A tensor of a model and what training must know of it.
struct ModelTensor {
  std::string name;
  torch::Tensor tensor;
  TensorKind kind = TensorKind::kTrained;
  bool decays = true;         // weight decay applies
  bool head = false;          // of the last linear layer, made anew for other classes
  int64_t layers_behind = 0;  // between it and the head; the first embedding counts as a layer
};

class Classifier : public torch::nn::Module {
 public:
  explicit Classifier(const ModelSpec& spec);

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

  // Before each step of training, counted from 0: mechanisms that draw at random may draw anew.
  void start_step(int64_t step);

  const ModelSpec& spec() const { return spec_; }
  const Description& description() const { return own_->model; }  // at the spec's own image size
  std::vector<ModelTensor> tensors() const;  // all that files hold, in their order

 private:
  struct Sized {
    Description model;
    std::vector<int> last_use;  // by part: the last part that reads it
  };
  // Called in front of each part, when its inputs are there; false ends the run.
  using Watch = std::function<bool(int part, const std::vector<torch::Tensor>& values)>;

  static std::shared_ptr<const Sized> sized(const ModelSpec& spec, Grid size);
  std::shared_ptr<const Sized> sized_for(const Input& input);
  void make_tensors();
  torch::Tensor held(const TensorShape& shape, const torch::Tensor& value);
  torch::nn::Module& group(const std::string& path);
  PartRun part_run(const Part& part);
  torch::Tensor run_parts(const Sized& sized, const Input& input, const Watch& watch = {});
  void watch_mixes(const Input& input, int stage, int layer, int count,
                   const std::function<void(const Mixing&)>& seen);
  void check_layer(int stage, int layer) const;

  ModelSpec spec_;
  std::shared_ptr<const Sized> own_;
  std::mutex latest_lock_;
  std::shared_ptr<const Sized> latest_;  // of the last input's size
  Grid latest_size_;
  std::vector<torch::Tensor> tensors_;                                // of the description
  std::map<std::string, std::shared_ptr<Attention>> attentions_;      // by the mix's name
  std::map<std::string, std::shared_ptr<torch::nn::Module>> groups_;  // by path
  Drop drop_;
};

}  // namespace soft
