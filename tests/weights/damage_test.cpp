// Damaged files: every truncation is refused, every flipped byte is either refused or harmless. Run
// under the sanitizers this is also the proof that no byte outside the file is touched.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "support/support.h"
#include "weights/forge.h"
#include "weights/weights.h"

namespace soft {
namespace {

void write_small_file(const std::string& path) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  Card card;
  card.spec = find_model("soft-nano");
  write_safetensors(path, {{"a", {DType::kF32, {2, 3}, data}}, {"b", {DType::kF32, {1}, data}}},
                    metadata_of(card));
}

class Damage : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "small.safetensors") {
      write_small_file(path_);
    } else {
      std::filesystem::copy_file(test::golden(GetParam()), path_);
    }
    bytes_ = test::read_file(path_);
  }

  // True when the file is read. Any exception but soft::Error escapes and fails the test.
  bool is_read() const {
    try {
      const Weights weights = read_weights(path_);
      touch(weights);
      return true;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(path_));
      return false;
    }
  }

  // Reads every byte of every tensor and makes sense of the whole as far as that goes.
  static void touch(const Weights& weights) {
    volatile uint8_t sink = 0;
    for (const auto& [name, view] : weights.tensors) {
      for (size_t i = 0; i < view.bytes(); ++i) sink = sink ^ view.data[i];
    }
    try {
      card_of(weights);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(weights.path));
    }
  }

  // In place: rewriting whole files thousands of times would keep the disk busy.
  void put(size_t at, char byte) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put(byte);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path("damaged");
  std::string bytes_;
};

TEST_P(Damage, TheWholeFileIsRead) { EXPECT_TRUE(is_read()); }

TEST_P(Damage, EveryTruncationIsRefused) {
  for (size_t size = bytes_.size(); size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    ASSERT_FALSE(is_read()) << size;
  }
}

TEST_P(Damage, EveryFlippedByteIsRefusedOrHarmless) {
  testing::internal::CaptureStderr();  // the choice of a dictionary is announced each time
  for (size_t at = 0; at < bytes_.size(); ++at) {
    for (const int flip : {0xff, 0x01, 0x80}) {
      put(at, static_cast<char>(bytes_[at] ^ flip));
      is_read();
    }
    put(at, bytes_[at]);
  }
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(is_read());
}

INSTANTIATE_TEST_SUITE_P(Files, Damage,
                         testing::Values("small.safetensors", "checkpoint.pth", "variants.pth"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('.'));
                         });

}  // namespace
}  // namespace soft
