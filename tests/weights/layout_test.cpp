#include <gtest/gtest.h>

#include "base/error.h"
#include "support/support.h"
#include "weights/ablations.h"
#include "weights/weights.h"

namespace soft {
namespace {

std::vector<int64_t> shape_of(const std::vector<TensorShape>& tensors, const std::string& name) {
  for (const TensorShape& tensor : tensors) {
    if (tensor.name == name) return tensor.shape;
  }
  return {};
}

TEST(Layout, NamesAreUnique) {
  for (const ModelSpec& spec : test::models_and_ablations()) {
    std::set<std::string> names;
    for (const TensorShape& tensor : tensors_of(spec)) {
      EXPECT_TRUE(names.insert(tensor.name).second) << spec.name << " " << tensor.name;
    }
  }
}

TEST(Layout, TheReleasedNamesAndShapesOfTheGoldenModel) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "dims", "32,64,96,128");
  set_field(spec, "heads", "1,2,3,4");
  set_field(spec, "depths", "1,1,2,1");
  set_field(spec, "classes", "10");
  EXPECT_NO_THROW(check_fit(read_weights(test::golden("mini.safetensors")), spec));
}

TEST(Layout, StageFourAsSoftHasADenseSampler) {
  ModelSpec spec = find_model("soft-tiny");
  set_field(spec, "stage4", "soft");
  const auto tensors = tensors_of(spec);
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of(tensors, "block4.1.att.mha.attn.Qlandmark_op.weight"), (Shape{32, 32}));
  EXPECT_EQ(shape_of(tensors, "block4.1.att.mha.attn.conv.weight"), (Shape{16, 1, 3, 3}));
  EXPECT_EQ(shape_of(tensors, "block4.1.attn.q.weight"), Shape{});
}

TEST(Layout, FlatModelsNameTheirBlocksByForm) {
  using Shape = std::vector<int64_t>;
  const auto deit = tensors_of(find_model("vit-small-pre"));
  EXPECT_EQ(shape_of(deit, "pos_embed1"), (Shape{1, 197, 384}));
  EXPECT_EQ(shape_of(deit, "block1.11.attn.kv.weight"), (Shape{768, 384}));
  ModelSpec spec = find_model("vit-small-pre");
  set_field(spec, "attention", "soft");
  const auto soft = tensors_of(spec);
  EXPECT_EQ(shape_of(soft, "block1.0.attn.v.weight"), (Shape{384, 384}));
  EXPECT_EQ(shape_of(soft, "block1.0.attn.attn.Qlandmark_op.weight"), (Shape{64, 64, 2, 2}));
  EXPECT_EQ(shape_of(soft, "block1.0.attn.attn.conv.weight"), (Shape{6, 1, 3, 3}));
}

TEST(Layout, SequenceLayersSlideAlongOneAxis) {
  AttentionSpec attention;
  attention.dim = 64;
  attention.heads = 2;
  attention.ratio = 8;
  attention.value_kernel = 5;
  attention.sequence = true;
  const auto tensors = layer_tensors(attention, 2, "block1.0.");
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of(tensors, "block1.0.att.mha.attn.Qlandmark_op.weight"), (Shape{32, 32, 8}));
  EXPECT_EQ(shape_of(tensors, "block1.0.att.mha.attn.conv.weight"), (Shape{2, 1, 5}));
  EXPECT_EQ(shape_of(tensors, "block1.0.att.ff1.weight"), (Shape{128, 64}));
}

}  // namespace
}  // namespace soft
