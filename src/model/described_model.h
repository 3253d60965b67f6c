// A model as its description says: it holds the description's tensors under their published names
// and runs its parts in their order (model/run.h).
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/input.h"
#include "model/recompute.h"
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

class DescribedModel : public torch::nn::Module {
 public:
  // Before each step of training, counted from 0: mechanisms that draw at random may draw anew.
  void start_step(int64_t step);

  const Description& description() const { return own_->model; }
  std::vector<ModelTensor> tensors() const;  // all that files hold, in their order

 protected:
  // A description, and by part the last part that reads it.
  struct Route : std::enable_shared_from_this<Route> {
    explicit Route(Description description);

    Description model;
    std::vector<int> last_use;
    std::vector<Stretch> layers;  // that may be computed twice
  };
  // Called in front of each part, when its inputs are there; false ends the run.
  using Watch = std::function<bool(int part, const std::vector<torch::Tensor>& values)>;

  DescribedModel(const std::string& name, Description description);  // freshly initialised

  // Any description that differs from the own one in nothing but sizes.
  torch::Tensor run_parts(const Route& route, const Input& input, const Watch& watch = {});
  torch::Tensor value_of(int part, const Route& route, const Input& input);  // runs that far

  const std::shared_ptr<const Route>& own_route() const { return own_; }
  Attention& attention_of(const Part& mix) { return *attentions_.at(mix.name); }

  Drop drop_;
  bool recompute_ = false;  // layers of a training step keep their inputs alone

 private:
  void make_tensors();
  torch::Tensor held(const TensorShape& shape, const torch::Tensor& value);
  torch::nn::Module& group(const std::string& path);
  PartRun part_run(const Part& part);
  void run_part(int part, const Route& route, const Input& input,
                std::vector<torch::Tensor>& values);
  void run_twice(const Stretch& layer, const Route& route, const Input& input,
                 std::vector<torch::Tensor>& values);

  std::shared_ptr<const Route> own_;
  std::vector<torch::Tensor> tensors_;                                // of the description
  std::map<std::string, std::shared_ptr<Attention>> attentions_;      // by the mix's name
  std::map<std::string, std::shared_ptr<torch::nn::Module>> groups_;  // by path
};

}  // namespace soft
