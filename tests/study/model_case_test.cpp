#include "study/model_case.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(ModelCase, RatesFollowFromTheMedian) {
  const ModelCase model{find_model("soft-tiny"), {224, 224}, 8, "native"};
  const Json row = row_of(model, {{0.1, 0.2, 0.4}});
  EXPECT_EQ(model.name(), "native batch 8");
  EXPECT_EQ(row.at("model"), "soft-tiny");
  EXPECT_EQ(row.at("size"), "224x224");
  EXPECT_DOUBLE_EQ(row.at("images_per_second"), 40);
  EXPECT_DOUBLE_EQ(row.at("ms_median"), 200);
  EXPECT_DOUBLE_EQ(row.at("ms_best"), 100);
  EXPECT_NEAR(row.at("gflops"), 40 * 2 * 2.116, 0.1);  // 2.116 GMACs with the inverse
}

TEST(ModelCase, NoiseFillsTheBatchAndIsTheSameEveryTime) {
  const ModelCase model{find_model("soft-nano"), {32, 48}, 2, "native"};
  EXPECT_EQ(noise_for(model).size(), 2u * 3 * 32 * 48);
  EXPECT_EQ(noise_for(model), noise_for(model));
}

}  // namespace
}  // namespace soft
