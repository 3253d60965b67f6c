#include "describe/sequence.h"

#include "describe/cost.h"
#include "support/support.h"

namespace soft {
namespace {

ModelCost cost_of(const char* task, const char* form, const char* landmarks = "64",
                  bool class_token = false) {
  SequenceSettings settings;
  settings.form = form;
  settings.landmarks = landmarks;
  settings.class_token = class_token;
  const SequenceSpec spec = sequence_spec(find_sequence_task(task), settings);
  return cost_of(describe(spec, spec.length));
}

int64_t macs_of(const char* task, const char* form, const char* landmarks = "64") {
  return cost_of(task, form, landmarks).macs_with_inverse;
}

// Two layers of projections (three where Q and K are one) and an MLP, and the head; softmax adds
// 2·n²·d for each of two heads.
TEST(SequenceDescription, CountsWhatTheLayersDo) {
  const int64_t n = 2048, head = 128 * (64 + 10);
  const auto frame = [&](int64_t projections) {
    return 2 * n * (projections * 64 * 64 + 2 * 64 * 128) + head;
  };
  EXPECT_EQ(macs_of("listops", "none"), frame(3));
  EXPECT_EQ(macs_of("listops", "softmax"), frame(4) + 2 * 2 * 2 * n * n * 32);
}

TEST(SequenceDescription, PairsAreEncodedTwice) {
  const int64_t head = 128 * (4 * 64 + 2);
  EXPECT_EQ(macs_of("retrieval", "none") - head, 2 * (macs_of("text", "none") - 128 * (64 + 2)));
}

TEST(SequenceDescription, FixedLandmarksAreFarCheaperThanThePapersQuarter) {
  EXPECT_LT(macs_of("text", "soft") * 10, macs_of("text", "softmax"));
  EXPECT_GT(macs_of("text", "soft", "pool4"), int64_t{2} * 2 * 43'000'000'000 / 2);
}

// Tables of words and places, two layers, the last norm and the head.
TEST(SequenceDescription, CountsItsParameters) {
  const auto linear = [](int64_t in, int64_t out) { return in * out + out; };
  const int64_t layer = 4 * linear(64, 64) + 2 * 128 + linear(64, 128) + linear(128, 64);
  const int64_t rest = 32 * 64 + 2048 * 64 + 128 + linear(64, 128) + linear(128, 10);
  EXPECT_EQ(cost_of("listops", "softmax").params, 2 * layer + rest);
  EXPECT_EQ(cost_of("listops", "softmax", "64", true).params, 2 * layer + rest + 64);
  EXPECT_EQ(cost_of("listops", "softmax").weight_bytes, 4 * (2 * layer + rest));
}

// Another length is another cost of the same tensors.
TEST(SequenceDescription, TensorsDoNotDependOnTheLength) {
  for (std::string_view form : sequence_forms()) {
    SequenceSettings settings;
    settings.form = std::string(form);
    const SequenceSpec spec = sequence_spec(find_sequence_task("listops"), settings);
    const Description whole = describe(spec, spec.length), part = describe(spec, 1024);
    ASSERT_EQ(whole.tensors.size(), part.tensors.size());
    for (size_t i = 0; i < whole.tensors.size(); ++i) {
      EXPECT_EQ(whole.tensors[i].name, part.tensors[i].name);
      EXPECT_EQ(whole.tensors[i].shape, part.tensors[i].shape);
    }
    EXPECT_EQ(whole.parts.size(), part.parts.size());
    EXPECT_LT(cost_of(part).macs, cost_of(whole).macs) << form;
  }
}

}  // namespace
}  // namespace soft
