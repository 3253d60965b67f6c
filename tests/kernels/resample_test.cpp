#include "kernels/resample.h"

#include <vector>

#include "base/random.h"
#include "kernel_case.h"

namespace soft {
namespace {

constexpr uint8_t kUntouched = 77;

struct Case {
  int inputs, outputs, taps, others;  // others: rows of the row pass, bytes of the column pass
};

// Windows spread over the input, with weights that also drive sums below 0 and above 255.
struct RandomWindows {
  std::vector<int32_t> first, weights;
  ResampleWindows view;

  explicit RandomWindows(const Case& c) {
    Random random(c.inputs * 1000 + c.outputs * 10 + c.taps);
    for (int i = 0; i < c.outputs; ++i) {
      first.push_back(static_cast<int32_t>(int64_t{c.inputs - c.taps} * i / c.outputs));
      for (int t = 0; t < c.taps; ++t) {
        const double weight = (random.uniform() * 3 - 1) / c.taps;
        weights.push_back(static_cast<int32_t>(weight * (1 << kWeightBits)));
      }
    }
    view = {c.outputs, c.taps, first.data(), weights.data()};
  }
};

std::vector<uint8_t> random_bytes(size_t count) {
  Random random(count);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.uniform() * 256);
  return bytes;
}

// The kernels under the instruction sets of this machine, against the plain loops; one byte past
// the end must stay as it was.
void check(const Case& c) {
  const RandomWindows windows(c);
  const std::vector<uint8_t> rows = random_bytes(size_t{3} * c.inputs * c.others);
  const std::vector<uint8_t> columns = random_bytes(size_t{1} * c.inputs * c.others);
  std::vector<uint8_t> expected_rows(size_t{3} * c.outputs * c.others + 1, kUntouched);
  std::vector<uint8_t> expected_columns(size_t{1} * c.outputs * c.others + 1, kUntouched);
  resample_rows_plain(rows.data(), c.others, c.inputs, windows.view, expected_rows.data());
  resample_columns_plain(columns.data(), c.others, windows.view, expected_columns.data());

  std::vector<uint8_t> found_rows(expected_rows.size(), kUntouched);
  std::vector<uint8_t> found_columns(expected_columns.size(), kUntouched);
  resample_rows(rows.data(), c.others, c.inputs, windows.view, found_rows.data());
  resample_columns(columns.data(), c.others, windows.view, found_columns.data());
  EXPECT_EQ(found_rows, expected_rows);
  EXPECT_EQ(found_columns, expected_columns);
}

TEST(Resample, EqualsThePlainLoopsForEveryOddSize) {
  for (const int taps : {1, 2, 3, 4, 5, 7, 8, 9, 17}) {
    for (const int inputs : {taps, taps + 1, taps + 30, taps + 75}) {
      for (const int others : {1, 3, 16, 31, 33, 100}) {
        SCOPED_TRACE(testing::Message() << taps << " of " << inputs << ", " << others);
        test::for_every_target([&] { check({inputs, 1 + inputs / 2, taps, others}); });
      }
    }
  }
}

TEST(ResamplePlain, RoundsHalfUpAndClamps) {
  constexpr int32_t kOne = 1 << kWeightBits;
  const uint8_t in[] = {10, 20, 30, 11, 21, 31};
  const int32_t first[] = {0, 0, 0}, weights[] = {kOne / 2, kOne / 2, -kOne, 0, 16 * kOne, 0};
  uint8_t out[9];
  resample_rows_plain(in, 1, 2, {3, 2, first, weights}, out);
  EXPECT_EQ(std::vector<int>(out, out + 9), (std::vector<int>{11, 21, 31, 0, 0, 0, 160, 255, 255}));
}

}  // namespace
}  // namespace soft
