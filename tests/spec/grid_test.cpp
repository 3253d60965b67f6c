#include "describe/cost.h"
#include "support/support.h"

namespace soft {
namespace {

std::vector<Grid> grids_of(const ModelSpec& spec, Grid image) {
  std::vector<Grid> grids;
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    grids.push_back(stage_grid(spec, s, image));
  }
  return grids;
}

using Grids = std::vector<Grid>;

TEST(StageGrid, HalvesFromStage1To4) {
  const ModelSpec tiny = find_model("soft-tiny");
  EXPECT_EQ(grids_of(tiny, {224, 224}), (Grids{{56, 56}, {28, 28}, {14, 14}, {7, 7}}));
  EXPECT_EQ(grids_of(tiny, {256, 320}), (Grids{{64, 80}, {32, 40}, {16, 20}, {8, 10}}));
  EXPECT_EQ(grids_of(find_model("soft-nano"), {32, 32}), (Grids{{16, 16}, {8, 8}, {4, 4}, {2, 2}}));
}

TEST(StageGrid, OverlappingConvolutionsRoundUpAndPatchesRoundDown) {
  ModelSpec spec = find_model("soft-tiny");
  EXPECT_EQ(grids_of(spec, {225, 57}), (Grids{{57, 15}, {29, 8}, {15, 4}, {8, 2}}));
  set_field(spec, "overlap", "off");
  EXPECT_EQ(grids_of(spec, {225, 57}), (Grids{{56, 14}, {28, 7}, {14, 3}, {7, 1}}));
}

TEST(StageGrid, AFlatModelHasOneGridOfWholePatches) {
  EXPECT_EQ(grids_of(find_model("vit-small-pre"), {224, 250}), (Grids{{14, 15}}));
}

TEST(LandmarkCount, FollowsTheWindowOrStaysFixed) {
  ModelSpec spec = find_model("soft-tiny");
  const auto counts = [&](Grid image) {
    std::vector<int64_t> all;
    for (const StageCost& stage : cost_of(spec, image).stages) all.push_back(stage.landmarks);
    return all;
  };
  EXPECT_EQ(counts({224, 224}), (std::vector<int64_t>{49, 49, 49, 0}));
  EXPECT_EQ(counts({448, 224}), (std::vector<int64_t>{98, 98, 98, 0}));
  EXPECT_EQ(counts({225, 225}), (std::vector<int64_t>{49, 49, 49, 0}));
  set_field(spec, "landmarks", "49");
  EXPECT_EQ(counts({448, 448}), (std::vector<int64_t>{49, 49, 49, 0}));
}

}  // namespace
}  // namespace soft
