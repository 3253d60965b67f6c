// What the torch model registers is what the description says, name by name and shape by shape.
#include "support/tensors.h"

#include <map>

#include "attention/attention.h"
#include "describe/sequence.h"
#include "model/classifier.h"
#include "model/sequence_model.h"
#include "weights/ablations.h"

namespace soft {
namespace {

struct Registered {
  std::vector<int64_t> shape;
  bool parameter;

  friend bool operator==(const Registered& a, const Registered& b) {
    return a.shape == b.shape && a.parameter == b.parameter;
  }
};
using Registry = std::map<std::string, Registered>;

Registry registered_in(const torch::nn::Module& module) {
  Registry registry;
  for (const auto& item : module.named_parameters()) {
    registry[item.key()] = {item.value().sizes().vec(), true};
  }
  for (const auto& item : module.named_buffers()) {
    registry[item.key()] = {item.value().sizes().vec(), false};
  }
  return registry;
}

Registry described(const std::vector<TensorShape>& tensors) {
  Registry registry;
  for (const TensorShape& tensor : tensors)
    registry[tensor.name] = {tensor.shape, tensor.trained()};
  return registry;
}

template <class Tensor>
std::vector<std::string> names_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

// The same frame with few channels and layers: names and ranks stay.
ModelSpec shrunk(ModelSpec spec) {
  for (StageSpec& stage : spec.stages) {
    stage.dim = 4 * stage.heads;
    stage.depth = std::min(stage.depth, 2);
  }
  spec.stem_dim = std::min(spec.stem_dim, 8);
  spec.classes = std::min(spec.classes, 11);
  return spec;
}

TEST(ModelTensors, AreThoseOfTheDescriptionForEveryModelAndAblation) {
  for (const ModelSpec& whole : test::models_and_ablations()) {
    const ModelSpec spec = shrunk(whole);
    const Classifier model(spec);
    EXPECT_EQ(registered_in(model), described(tensors_of(spec))) << spec.name;
    const std::vector<ModelTensor> tensors = model.tensors();
    const std::vector<TensorShape> wanted = tensors_of(spec);
    ASSERT_EQ(tensors.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(tensors[i].name, wanted[i].name);
      EXPECT_EQ(tensors[i].tensor.sizes(), at::IntArrayRef(wanted[i].shape)) << wanted[i].name;
    }
  }
}

TEST(ModelTensors, OfSequencesAreThoseOfTheDescriptionForEveryForm) {
  for (const char* task : {"listops", "retrieval"}) {  // one side, two sides
    for (std::string_view form : sequence_forms()) {
      for (const bool class_token : {false, true}) {
        SequenceSettings settings;
        settings.form = std::string(form);
        settings.class_token = class_token;
        const SequenceSpec spec = sequence_spec(find_sequence_task(task), settings);
        const std::vector<TensorShape> wanted = describe(spec, spec.length).tensors;
        const SequenceModel model(spec);
        EXPECT_EQ(registered_in(model), described(wanted)) << spec.name << " " << form;
        EXPECT_EQ(names_of(model.tensors()), names_of(wanted));
      }
    }
  }
}

TEST(ModelTensors, OfAnAttentionAreThoseOfTheDescriptionOnPicturesAndSequences) {
  for (size_t mechanism = 0; mechanism < names_of(Mechanism{}).size(); ++mechanism) {
    for (size_t sampler = 0; sampler < names_of(Sampler{}).size(); ++sampler) {
      for (const bool sequence : {false, true}) {
        for (const int kernel : {0, 5}) {
          AttentionSpec spec;
          spec.mechanism = static_cast<Mechanism>(mechanism);
          spec.sampler = static_cast<Sampler>(sampler);
          spec.dim = 32;
          spec.heads = 2;
          spec.ratio = 4;
          spec.value_kernel = kernel;
          spec.sequence = sequence;
          spec.projection = 8;
          spec.longest = 64;
          EXPECT_EQ(registered_in(*make_attention(spec)), described(mix_tensors(spec, "")))
              << name_of(spec.mechanism) << " " << name_of(spec.sampler) << " " << sequence;
        }
      }
    }
  }
}

}  // namespace
}  // namespace soft
