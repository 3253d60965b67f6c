#include "train/init.h"

#include <cmath>

#include "model/checkpoint.h"
#include "model/classifier.h"
#include "support/tensors.h"

namespace soft {
namespace {

using testing::HasSubstr;

ModelSpec little(int classes) {
  ModelSpec spec = find_model("soft-nano");
  for (const auto& [key, value] : {std::pair("dims", "32,32,32,32"),
                                   {"heads", "1,1,1,1"},
                                   {"depths", "1,1,1,1"},
                                   {"stem_dim", "8"}}) {
    set_field(spec, key, value);
  }
  spec.classes = classes;
  return spec;
}

std::map<std::string, torch::Tensor> copies_of(Classifier& model) {
  std::map<std::string, torch::Tensor> copies;
  for (const ModelTensor& own : model.tensors()) copies[own.name] = own.tensor.clone();
  return copies;
}

TEST(InitialiseFrom, TakesTheBodyAndKeepsAHeadOfItsOwnForOtherClasses) {
  const Weights weights = random_weights(little(5), 3);
  Classifier model(little(7));
  const auto before = copies_of(model);
  EXPECT_THAT(initialise_from(model, weights), testing::ElementsAre(HasSubstr("made anew")));
  for (const ModelTensor& own : model.tensors()) {
    EXPECT_EQ(own.head, own.name.rfind("head.", 0) == 0);
    const torch::Tensor expected =
        own.head
            ? before.at(own.name)
            : torch::tensor(to_floats(weights.tensors.at(own.name))).reshape(own.tensor.sizes());
    EXPECT_TRUE(torch::equal(own.tensor, expected)) << own.name;
  }
}

TEST(InitialiseFrom, RefusesWeightsWithTensorsThatTheModelHasNot) {
  ModelSpec deeper = little(7);
  set_field(deeper, "depths", "1,2,1,1");
  const Weights weights = random_weights(deeper, 3);
  Classifier model(little(7));
  EXPECT_THAT(test::error_of([&] { initialise_from(model, weights); }),
              AllOf(HasSubstr("block2.1."), HasSubstr("which this model has not")));
}

TEST(InitialiseFrom, NamesATensorThatHoldsNoNumbers) {
  Weights weights = random_weights(little(7), 3);
  const std::string name = "patch_embed1.proj.1.running_var";
  std::vector<float> values = to_floats(weights.tensors.at(name));
  values[1] = std::nanf("");
  weights.tensors.at(name).type = DType::kF32;
  weights.tensors.at(name).data = reinterpret_cast<const uint8_t*>(values.data());
  Classifier model(little(7));
  EXPECT_THAT(test::error_of([&] { initialise_from(model, weights); }), HasSubstr(name));
}

TEST(InitialiseFrom, RefusesWeightsThatLackATensor) {
  ModelSpec deeper = little(7);
  set_field(deeper, "depths", "1,2,1,1");
  Classifier model(deeper);
  const Weights weights = random_weights(little(7), 3);
  EXPECT_THAT(test::error_of([&] { initialise_from(model, weights); }), HasSubstr("block2.1."));
}

}  // namespace
}  // namespace soft
