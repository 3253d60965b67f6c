#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

using test::big_endian;
using test::error_of;
using test::idx_images;
using test::idx_labels;
using test::write_file;

class Idx : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& bytes) {
    write_file(folder_.path(file), bytes);
  }
  void write_validation(const std::string& images, const std::string& labels) {
    write("t10k-images-idx3-ubyte", images);
    write("t10k-labels-idx1-ubyte", labels);
  }
  std::string error_of_validation() {
    return error_of([this] { open_idx(folder_.path(), Split::kValidation); });
  }
  test::TemporaryFolder folder_;
};

TEST_F(Idx, PicturesAreCentredOnBlackAndGrey) {
  write_validation(idx_images(2, 28, 28), idx_labels({1, 0}));
  const Dataset dataset = open_idx(folder_.path(), Split::kValidation);
  EXPECT_EQ(dataset.native_size, 32);
  EXPECT_THAT(dataset.labels, testing::ElementsAre(1, 0));
  EXPECT_THAT(dataset.classes, testing::ElementsAre("0", "1"));
  const Image image = dataset.load(1);
  ASSERT_EQ(image.width, 32);
  ASSERT_EQ(image.height, 32);
  const auto expected = static_cast<uint8_t>((28 * 28 + 28 * 3 + 5) * 7 + 1);
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(image.pixel(2 + 5, 2 + 3)[channel], expected);
    EXPECT_EQ(image.pixel(1, 16)[channel], 0);
    EXPECT_EQ(image.pixel(16, 30)[channel], 0);
  }
}

TEST_F(Idx, CompressedAndDottedNamesReadTheSame) {
  write("t10k-images-idx3-ubyte.gz", test::gzip(idx_images(2, 3, 5)));
  write("t10k-labels.idx1-ubyte", idx_labels({0, 1}));
  const Dataset dataset = open_idx(folder_.path(), Split::kValidation);
  EXPECT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.load(0).pixel((32 - 5) / 2, (32 - 3) / 2)[0], 1);
}

TEST_F(Idx, TrainingLabelsDecideTheClassesOfBothSplits) {
  write("train-images-idx3-ubyte", idx_images(3, 2, 2));
  write("train-labels-idx1-ubyte", idx_labels({0, 1, 2}));
  write_validation(idx_images(1, 2, 2), idx_labels({1}));
  EXPECT_EQ(open_idx(folder_.path(), Split::kValidation).class_count(), 3);
  write_validation(idx_images(1, 2, 2), idx_labels({3}));
  EXPECT_THAT(error_of_validation(),
              testing::HasSubstr("1 of 1 labels are beyond the 3 classes; the first: picture 0 has "
                                 "label 3"));
}

TEST_F(Idx, AWrongMagicNumberIsNamed) {
  write_validation(idx_labels({1, 2}), idx_labels({1, 2}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("not an idx3 file of images"));
  write_validation("no", idx_labels({1, 2}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("truncated"));
}

TEST_F(Idx, TruncatedAndOverlongFilesAreRefused) {
  const std::string images = idx_images(2, 4, 4);
  write_validation(images.substr(0, images.size() - 1), idx_labels({0, 1}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("truncated: 31 of 32 bytes"));
  write_validation(images + "x", idx_labels({0, 1}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("goes on after its last item"));
  write_validation(images, idx_labels({0}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("1 labels for 2 pictures"));
}

TEST_F(Idx, DamagedCompressedDataAreRefused) {
  std::string packed = test::gzip(idx_images(2, 4, 4));
  packed[packed.size() - 6] ^= 1;  // the checksum
  write("t10k-images-idx3-ubyte.gz", packed);
  write("t10k-labels-idx1-ubyte", idx_labels({0, 1}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("damaged"));
}

TEST_F(Idx, ALyingHeaderTakesNoMemory) {
  const std::string header = big_endian(0x803) + big_endian(~0u) + big_endian(4096);
  write_validation(header + big_endian(4096) + "few bytes", idx_labels({0}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("1 labels for 4294967295 pictures"));
  const std::string huge = big_endian(0x803) + big_endian(1) + big_endian(4096) + big_endian(4096);
  write_validation(huge + "few bytes", idx_labels({0}));
  EXPECT_THAT(error_of_validation(),
              testing::HasSubstr("announces 16777216 bytes and cannot hold more than 25"));
  write_validation(header + big_endian(0), idx_labels({0}));
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("pictures of 0 x 4096"));
}

TEST_F(Idx, LabelsThatNoPictureHasAreCountedInOneLine) {
  write_validation(idx_images(2, 2, 2), idx_labels({0, 255}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(open_idx(folder_.path(), Split::kValidation).class_count(), 256);
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_THAT(err, testing::HasSubstr("254 of the labels 0 to 255 have no picture, the first: 1"));
}

TEST_F(Idx, AMissingFileIsNamed) {
  EXPECT_THAT(error_of_validation(), testing::HasSubstr("no file 't10k-labels-idx1-ubyte'"));
}

}  // namespace
}  // namespace soft
