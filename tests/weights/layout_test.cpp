#include <gtest/gtest.h>

#include "base/error.h"
#include "describe/sequence.h"
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

// Files of trained models of sequences hold these.
TEST(Layout, TheNamesAndShapesOfAModelOfSequences) {
  SequenceSettings settings;
  settings.class_token = true;
  settings.settings = {"value_path=on", "value_kernels=5"};
  const SequenceSpec spec = sequence_spec(find_sequence_task("retrieval"), settings);
  const auto tensors = describe(spec, 100).tensors;
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of(tensors, "words"), (Shape{512, 64}));
  EXPECT_EQ(shape_of(tensors, "places"), (Shape{4096, 64}));
  EXPECT_EQ(shape_of(tensors, "class_token"), (Shape{64}));
  EXPECT_EQ(shape_of(tensors, "block0.W_q.weight"), (Shape{64, 64}));
  EXPECT_EQ(shape_of(tensors, "block0.W_k.weight"), (Shape{}));
  EXPECT_EQ(shape_of(tensors, "block0.W_v.bias"), (Shape{64}));
  EXPECT_EQ(shape_of(tensors, "block0.ff.weight"), (Shape{64, 64}));
  EXPECT_EQ(shape_of(tensors, "block1.attn.Qlandmark_op.weight"), (Shape{32, 32, 64}));
  EXPECT_EQ(shape_of(tensors, "block1.attn.conv.weight"), (Shape{2, 1, 5}));
  EXPECT_EQ(shape_of(tensors, "block1.norm1.weight"), (Shape{64}));
  EXPECT_EQ(shape_of(tensors, "block1.norm2.bias"), (Shape{64}));
  EXPECT_EQ(shape_of(tensors, "block1.ff1.weight"), (Shape{128, 64}));
  EXPECT_EQ(shape_of(tensors, "block1.ff2.weight"), (Shape{64, 128}));
  EXPECT_EQ(shape_of(tensors, "norm.weight"), (Shape{64}));
  EXPECT_EQ(shape_of(tensors, "head1.weight"), (Shape{128, 256}));
  EXPECT_EQ(shape_of(tensors, "head2.weight"), (Shape{2, 128}));
  EXPECT_EQ(tensors.size(), 3 + 2 * (6 + 4 + 4 + 4) + 2 + 4);
}

}  // namespace
}  // namespace soft
