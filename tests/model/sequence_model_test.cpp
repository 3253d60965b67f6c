#include "model/sequence_model.h"

#include <gtest/gtest.h>

#include "attention/torch.h"
#include "base/error.h"
#include "data/sequence_loader.h"
#include "support/tensors.h"

namespace soft {
namespace {

using torch::Tensor;

// A task small enough for a test: positions for 64 tokens, windows of 8.
SequenceTask little_task(int sides = 1) {
  SequenceTask task = find_sequence_task("listops");
  task.length = 64;
  task.cut = 60;
  task.sides = sides;
  return task;
}

SequenceSpec little_spec(const std::string& form, int sides = 1, bool class_token = false) {
  SequenceSettings settings;
  settings.form = form;
  settings.landmarks = "8";
  settings.class_token = class_token;
  if (form == "performer") settings.settings = {"features=64"};
  if (form == "reformer") settings.settings = {"bucket_size=16"};
  return sequence_spec(little_task(sides), settings);
}

std::vector<int32_t> numbers(int64_t length, int32_t start) {
  std::vector<int32_t> tokens(length);
  for (int64_t i = 0; i < length; ++i) tokens[i] = static_cast<int32_t>(1 + (start + 7 * i) % 15);
  return tokens;
}

PackedSequences packed(const std::vector<std::vector<int32_t>>& sequences, int64_t padding = 0,
                       int sides = 1) {
  SequenceBatch batch = collate(sequences, sides);
  const int64_t width = batch.length + padding;
  std::vector<int32_t> tokens(sequences.size() * width);
  for (size_t i = 0; i < sequences.size(); ++i) {
    std::copy(sequences[i].begin(), sequences[i].end(), tokens.begin() + i * width);
  }
  return pack(tokens.data(), static_cast<int64_t>(sequences.size()), width, sides);
}

class SequenceForms : public testing::TestWithParam<std::string_view> {
 protected:
  std::shared_ptr<SequenceModel> model(bool class_token = false) {
    torch::manual_seed(3);
    auto made =
        std::make_shared<SequenceModel>(little_spec(std::string(GetParam()), 1, class_token));
    made->eval();
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(All, SequenceForms, testing::ValuesIn(sequence_forms()),
                         [](const auto& info) {
                           std::string name(info.param);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(SequenceForms, PaddingChangesNoBitOfTheLogits) {
  const torch::NoGradGuard no_grad;
  for (bool class_token : {false, true}) {
    auto made = model(class_token);
    const std::vector<std::vector<int32_t>> texts{numbers(37, 1), numbers(60, 2), numbers(9, 3)};
    const Tensor plain = made->forward(packed(texts));
    EXPECT_TRUE(torch::equal(plain, made->forward(packed(texts, 40))));
    EXPECT_EQ(plain.sizes(), at::IntArrayRef({3, 10}));
    EXPECT_TRUE(torch::isfinite(plain).all().item<bool>());
  }
}

TEST_P(SequenceForms, ASampleDoesNotDependOnItsBatch) {
  const torch::NoGradGuard no_grad;
  auto made = model();
  const Tensor together =
      made->forward(packed({numbers(37, 1), numbers(60, 2), numbers(1, 3), numbers(37, 4)}));
  const Tensor alone = made->forward(packed({numbers(60, 2)}));
  EXPECT_LT((together[1] - alone[0]).abs().max().item<double>(), 1e-4);
}

TEST_P(SequenceForms, EveryParameterThatCountsGetsAFiniteGradient) {
  auto made = model();
  made->train();
  made->start_step(0);
  made->forward(packed({numbers(37, 1), numbers(60, 2)})).square().sum().backward();
  int64_t moved = 0;
  for (const auto& item : made->named_parameters()) {
    const Tensor& gradient = item.value().grad();
    if (!gradient.defined()) continue;
    EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>()) << item.key();
    moved += gradient.abs().max().item<double>() > 0 ? 1 : 0;
  }
  EXPECT_GT(moved, 15);
  EXPECT_GT(made->named_parameters()["words"].grad().abs().sum().item<double>(), 0);
  EXPECT_GT(made->named_parameters()["places"].grad().abs().sum().item<double>(), 0);
}

// The mean divides by the task's n: with no attention, a sequence twice behind itself would not
// have the same pooled vector but about twice it.
TEST(SequenceModel, TheMeanDividesByTheLengthOfTheTask) {
  const torch::NoGradGuard no_grad;
  SequenceModel model(little_spec("none"));
  model.eval();
  const Tensor norm_bias = model.named_parameters()["norm.bias"];
  model.named_parameters()["norm.weight"].zero_();
  norm_bias.fill_(1);
  const Tensor pooled = model.encode(packed({numbers(16, 1), numbers(48, 1)}));
  EXPECT_NEAR(pooled[0][0].item<double>(), 16.0 / 64, 1e-6);
  EXPECT_NEAR(pooled[1][0].item<double>(), 48.0 / 64, 1e-6);
}

TEST(SequenceModel, PairsShareTheEncoder) {
  const torch::NoGradGuard no_grad;
  SequenceModel model(little_spec("softmax", 2));
  model.eval();
  const auto a = numbers(20, 1), b = numbers(31, 5);
  const Tensor logits = model.forward(packed({a, b, a, a}, 0, 2));  // pairs (a, a) and (b, a)
  EXPECT_EQ(logits.sizes(), at::IntArrayRef({2, 10}));
  const Tensor pooled = model.encode(packed({a, b, a, a}, 0, 2));
  EXPECT_LT((pooled[0] - pooled[2]).abs().max().item<double>(), 1e-6);
  EXPECT_LT((pooled[0] - pooled[3]).abs().max().item<double>(), 1e-6);
  EXPECT_GT((pooled[0] - pooled[1]).abs().max().item<double>(), 1e-6);
}

// A token with id 0 inside a sequence is not there for the others.
TEST(SequenceModel, TokensThatAreNotThereCountForNothing) {
  const torch::NoGradGuard no_grad;
  SequenceModel model(little_spec("softmax"));
  model.eval();
  std::vector<int32_t> holes = numbers(30, 2);
  holes[7] = holes[8] = 0;
  const Tensor before = model.forward(packed({holes}));
  model.named_parameters()["words"][0].fill_(100);
  EXPECT_LT((model.forward(packed({holes})) - before).abs().max().item<double>(), 1e-6);
}

TEST(SequenceModel, DropoutIsDrawnInTrainingOnly) {
  const torch::NoGradGuard no_grad;
  SequenceModel model(little_spec("softmax"));
  const auto batch = packed({numbers(30, 2)});
  model.train();
  EXPECT_FALSE(torch::equal(model.forward(batch), model.forward(batch)));
  model.eval();
  EXPECT_TRUE(torch::equal(model.forward(batch), model.forward(batch)));
}

// Nothing but black pixels that count as padding, say.
TEST(SequenceModel, ABatchWithoutAnyTokenIsAnswered) {
  for (const char* form : {"softmax", "soft"}) {
    SequenceModel model(little_spec(form));
    model.eval();
    EXPECT_EQ(model.encode(packed({{}, {}}, 8)).abs().max().item<float>(), 0);
    const Tensor logits = model.forward(packed({{}, {}}, 8));
    EXPECT_EQ(logits.sizes(), at::IntArrayRef({2, 10}));
    logits.sum().backward();
    const Tensor beside = model.forward(packed({{}, numbers(9, 1)}, 8));
    EXPECT_LT((beside[0] - logits[0]).abs().max().item<double>(), 1e-6);
  }
}

// What a seed gives: tables, layers in their order, the mechanism behind its layer, the head.
TEST(SequenceModel, FirstWeightsAreDrawnInTheOrderOfTheirLayers) {
  torch::manual_seed(5);
  const SequenceModel model(little_spec("softmax", 1, true));
  torch::manual_seed(5);
  std::map<std::string, Tensor> wanted;
  wanted["words"] = torch::randn({32, 64}) * 0.02;
  wanted["places"] = torch::randn({64, 64}) * 0.02;
  wanted["class_token"] = torch::randn({64}) * 0.02;
  const auto linear = [&](const std::string& name, int64_t in, int64_t out) {
    const torch::nn::Linear layer(in, out);
    wanted[name + ".weight"] = layer->weight;
    wanted[name + ".bias"] = layer->bias;
  };
  for (const std::string block : {"block0.", "block1."}) {
    for (const char* name : {"W_q", "W_k", "W_v", "ff"}) linear(block + name, 64, 64);
    linear(block + "ff1", 64, 128);
    linear(block + "ff2", 128, 64);
  }
  linear("head1", 64, 128);
  linear("head2", 128, 10);
  for (const ModelTensor& own : model.tensors()) {
    if (own.name.find("norm") != std::string::npos) continue;
    EXPECT_TRUE(torch::equal(own.tensor, wanted.at(own.name))) << own.name;
  }
}

TEST(SequenceModel, ASequenceLongerThanItsPositionsIsRefused) {
  SequenceModel model(little_spec("none"));
  EXPECT_THAT(test::error_of([&] { model.forward(packed({numbers(65, 1)})); }),
              testing::HasSubstr("65 tokens; lra-listops reads at most 64"));
}

TEST(SequenceModel, ItsSpecSurvivesJson) {
  for (std::string_view form : sequence_forms()) {
    const SequenceSpec spec = little_spec(std::string(form), 2, true);
    const Json json = to_json(spec);
    EXPECT_EQ(to_json(sequence_spec_from_json(json, "card")), json) << form;
    for (const SequenceTask& task : sequence_tasks()) {
      SequenceSettings settings;
      settings.form = std::string(form);
      const Json own = to_json(sequence_spec(task, settings));
      EXPECT_EQ(to_json(sequence_spec_from_json(own, "card")), own) << form << " " << task.name;
    }
  }
  Json broken = to_json(little_spec("soft"));
  broken["sides"] = 3;
  EXPECT_THAT(test::error_of([&] { sequence_spec_from_json(broken, "card"); }),
              testing::HasSubstr("out of its range"));
}

}  // namespace
}  // namespace soft
