// Feature maps, embeddings and rows of the attention matrix.
#include "engine/mini.h"
#include "engine/plain_model.h"

namespace soft {
namespace {

using namespace test;

std::vector<float> embedding_of(const Packed& model, const std::vector<float>& pixels, Grid size) {
  Workspace workspace;
  std::vector<float> vector(model.spec().stages.back().dim);
  embed(model, workspace, {pixels.data(), 1, size}, vector.data());
  return vector;
}

TEST(EngineFeatures, AreTheTokensOfEachStageAsMaps) {
  const ModelSpec spec = find_model("soft-nano");
  const RandomWeights weights(spec);
  const Grid size{41, 70};
  const auto pixels = random_pixels(2, size);
  Workspace workspace;
  const auto maps = features(Packed(weights.get(), spec), workspace, {pixels.data(), 2, size});
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_THAT(maps[0].shape, testing::ElementsAre(2, 32, 21, 35));
  EXPECT_THAT(maps[3].shape, testing::ElementsAre(2, 192, 3, 5));
  for (int s = 0; s < 3; ++s) {
    const PlainTokens plain =
        PlainModel(weights.get(), spec).run(pixels.data() + 3 * size.size(), size, s + 1);
    std::vector<float> expected(plain.x.size());
    for (size_t i = 0; i < plain.x.size(); ++i) {
      expected[i % plain.dim * plain.grid.size() + i / plain.dim] = static_cast<float>(plain.x[i]);
    }
    const auto& data = maps[s].data;
    EXPECT_LT(relative_error({data.begin() + expected.size(), data.end()}, expected), 1e-4f) << s;
  }
}

TEST(EngineFeatures, OfTheLastStageAreNormed) {
  Workspace workspace;
  const auto pixels = random_pixels(1, {64, 64});
  ModelSpec spec = find_model("soft-nano");
  apply_setting(spec, "stage4=soft");
  apply_setting(spec, "class_token=off");
  const RandomWeights weights(spec);
  const Packed model(weights.get(), spec);
  const Array map = features(model, workspace, {pixels.data(), 1, {64, 64}}).back();
  std::vector<float> mean(192);
  for (size_t i = 0; i < map.data.size(); ++i) mean[i / 16] += map.data[i] / 16;
  EXPECT_LT(relative_error(embedding_of(model, pixels, {64, 64}), mean), 1e-5f);
}

TEST(EngineEmbedding, IsWhatTheClassifierReads) {
  const auto pixels = golden_tensor("x160x192");
  const Weights weights = read_weights(golden("mini.safetensors"));
  const auto vector = embedding_of(mini(), pixels, {160, 192});
  const auto weight = to_floats(weights.tensors.at("head.weight"));
  const auto bias = to_floats(weights.tensors.at("head.bias"));
  std::vector<double> logits(bias.begin(), bias.end());
  for (size_t i = 0; i < weight.size(); ++i) {
    logits[i / vector.size()] += double{weight[i]} * vector[i % vector.size()];
  }
  EXPECT_LT(relative_error({logits.begin(), logits.end()}, golden_tensor("y160x192")), 2e-6f);
}

class EngineRow : public testing::Test {
 protected:
  std::vector<float> row(const Packed& model, const RowQuery& query, Grid size) {
    const auto pixels = random_pixels(2, size);
    return attention_row(model, workspace_, {pixels.data(), 2, size}, query).maps.data;
  }

  Workspace workspace_;
};

TEST_F(EngineRow, OfSoftIsARowOfASymmetricMatrix) {
  const Packed model = mini();
  const Grid size{96, 160};  // stage 2: 12 x 20 tokens
  const int64_t n = 240, heads = 2;
  std::vector<std::vector<float>> rows;
  const std::vector<int64_t> tokens{0, 17, 119, 239};
  for (int64_t token : tokens) {
    rows.push_back(row(model, {1, 0, token}, size));
    ASSERT_EQ(rows.back().size(), static_cast<size_t>(2 * heads * n));
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      for (int64_t head = 0; head < 2 * heads; ++head) {
        const float there = rows[i][head * n + tokens[j]], back = rows[j][head * n + tokens[i]];
        EXPECT_NEAR(there, back, 1e-4f * std::max(1.0f, std::abs(there)));
      }
    }
  }
}

// Attention is linear in V: with W_v = 0 and b_v = 1 every token's value is 1 in every channel, so
// the row's sum is what the plain mechanism gives.
TEST_F(EngineRow, SumsToWhatConstantValuesBecome) {
  const ModelSpec spec = find_model("soft-nano");
  const RandomWeights weights(spec);
  const Packed model(weights.get(), spec);
  const Grid size{48, 64};
  const auto pixels = random_pixels(2, size);
  const auto sums = PlainModel(weights.get(), spec).row_sums(pixels.data(), size, 0, 37);
  const auto rows = row(model, {0, 0, 37}, size);
  const int64_t n = 24 * 32;
  for (size_t head = 0; head < sums.size(); ++head) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += rows[head * n + i];
    EXPECT_NEAR(sum, sums[head], 1e-3 * std::abs(sums[head]));
  }
}

TEST_F(EngineRow, OfSeveralLayersAreThoseOfEachLayer) {
  const ModelSpec spec = find_model("soft-nano");
  const RandomWeights weights(spec);
  const Packed model(weights.get(), spec);
  const auto pixels = random_pixels(1, {48, 64});
  const auto rows = [&](const RowQuery& query) {
    return attention_row(model, workspace_, {pixels.data(), 1, {48, 64}}, query).maps;
  };
  const Array both = rows({1, 0, 37, 2});
  EXPECT_THAT(both.shape, testing::ElementsAre(1, 4, 12 * 16));
  std::vector<float> expected = rows({1, 0, 37}).data;
  const std::vector<float> second = rows({1, 1, 37}).data;
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(both.data, expected);
  EXPECT_THAT(error_of([&] { rows({1, 1, 37, 2}); }), testing::HasSubstr("layer 3 does not exist"));
}

TEST_F(EngineRow, OfSoftmaxIsADistributionOverAllTokens) {
  const Packed model = mini();
  const auto rows = row(model, {3, 0, 2}, {64, 96});
  const int64_t n = 1 + 2 * 3, heads = 4;
  ASSERT_EQ(rows.size(), static_cast<size_t>(2 * heads * n));
  for (int64_t head = 0; head < 2 * heads; ++head) {
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_GE(rows[head * n + i], 0);
      sum += rows[head * n + i];
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST_F(EngineRow, OfDenseSoftHasOneOnTheDiagonal) {
  ModelSpec spec = find_model("soft-nano");
  apply_setting(spec, "stage4=soft");
  const RandomWeights weights(spec);
  const auto rows = row(Packed(weights.get(), spec), {3, 0, 5}, {64, 64});
  const int64_t n = 17, heads = 6;
  for (int64_t head = 0; head < 2 * heads; ++head) {
    EXPECT_EQ(rows[head * n + 6], 1);  // token 5, behind the class token
    for (int64_t i = 0; i < n; ++i) {
      const float value = rows[head * n + i];
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1);
    }
  }
}

TEST_F(EngineRow, OutsideTheModelIsRefused) {
  const Packed model = mini();
  const auto message = [&](const RowQuery& query) {
    return error_of([&] { row(model, query, {64, 64}); });
  };
  EXPECT_THAT(message({4, 0, 0}), testing::HasSubstr("stage 5 does not exist"));
  EXPECT_THAT(message({-1, 0, 0}), testing::HasSubstr("stage 0 does not exist"));
  EXPECT_THAT(message({2, 2, 0}), testing::HasSubstr("layer 3 does not exist; stage 3 has 2"));
  EXPECT_THAT(message({1, 0, 64}), testing::HasSubstr("token 64 does not exist"));
}

}  // namespace
}  // namespace soft
