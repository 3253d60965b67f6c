#include "describe/sequence_cost.h"

#include "support/support.h"

namespace soft {
namespace {

int64_t macs_of(const char* task, const char* form, const char* landmarks = "64") {
  SequenceSettings settings;
  settings.form = form;
  settings.landmarks = landmarks;
  return sequence_macs(sequence_spec(find_sequence_task(task), settings));
}

// Two layers of projections (three where Q and K are one) and an MLP, and the head; softmax adds
// 2·n²·d for each of two heads.
TEST(SequenceCost, CountsWhatTheLayersDo) {
  const int64_t n = 2048, head = 128 * (64 + 10);
  const auto frame = [&](int64_t projections) {
    return 2 * n * (projections * 64 * 64 + 2 * 64 * 128) + head;
  };
  EXPECT_EQ(macs_of("listops", "none"), frame(3));
  EXPECT_EQ(macs_of("listops", "softmax"), frame(4) + 2 * 2 * 2 * n * n * 32);
}

TEST(SequenceCost, PairsAreEncodedTwice) {
  const int64_t head = 128 * (4 * 64 + 2);
  EXPECT_EQ(macs_of("retrieval", "none") - head, 2 * (macs_of("text", "none") - 128 * (64 + 2)));
}

TEST(SequenceCost, FixedLandmarksAreFarCheaperThanThePapersQuarter) {
  EXPECT_LT(macs_of("text", "soft") * 10, macs_of("text", "softmax"));
  EXPECT_GT(macs_of("text", "soft", "pool4"), int64_t{2} * 2 * 43'000'000'000 / 2);
}

}  // namespace
}  // namespace soft
