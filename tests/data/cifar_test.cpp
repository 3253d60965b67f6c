#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

std::string record(uint8_t label, uint8_t first) {
  std::string bytes(1, static_cast<char>(label));
  for (int i = 0; i < 3 * 1024; ++i) bytes += static_cast<char>(first + i % 251);
  return bytes;
}

TEST(Cifar, RecordsBecomeInterleavedPictures) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("test_batch.bin"), record(3, 0) + record(9, 7));
  const Dataset dataset = open_cifar10(folder.path(), Split::kValidation);
  EXPECT_THAT(dataset.labels, testing::ElementsAre(3, 9));
  EXPECT_EQ(dataset.classes[3], "cat");
  EXPECT_EQ(dataset.native_size, 32);
  const Image image = dataset.load(1);
  const int place = 5 * 32 + 9;
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(image.pixel(9, 5)[channel], 7 + (channel * 1024 + place) % 251);
  }
}

TEST(Cifar, TrainingNeedsAllFiveFilesInOrder) {
  const test::TemporaryFolder folder;
  for (uint8_t i = 1; i <= 4; ++i) {
    test::write_file(folder.path(fmt::format("data_batch_{}.bin", i)), record(i, i));
  }
  EXPECT_THAT(test::error_of([&] { open_cifar10(folder.path(), Split::kTrain); }),
              testing::HasSubstr("data_batch_5.bin"));
  test::write_file(folder.path("data_batch_5.bin"), record(5, 5));
  EXPECT_THAT(open_cifar10(folder.path(), Split::kTrain).labels,
              testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(Cifar, TheFolderOfTheOfficialArchiveIsFound) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("cifar-10-batches-bin"));
  test::write_file(folder.path("cifar-10-batches-bin/test_batch.bin"), record(1, 0));
  EXPECT_EQ(open_cifar10(folder.path(), Split::kValidation).size(), 1);
}

TEST(Cifar, AFileThatShrinksInUseKeepsItsPictures) {
  const test::TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 10; ++i) bytes += record(1, 7);
  test::write_file(folder.path("test_batch.bin"), bytes);
  const Dataset dataset = open_cifar10(folder.path(), Split::kValidation);
  std::filesystem::resize_file(folder.path("test_batch.bin"), 0);
  EXPECT_EQ(dataset.load(9).rgb[0], 7);
}

TEST(Cifar, TruncatedFilesAndForeignLabelsAreRefused) {
  const test::TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    test::write_file(folder.path("test_batch.bin"), bytes);
    return test::error_of([&] { open_cifar10(folder.path(), Split::kValidation); });
  };
  EXPECT_THAT(error(record(1, 0).substr(1)), testing::HasSubstr("truncated"));
  EXPECT_THAT(error(""), testing::HasSubstr("truncated"));
  EXPECT_THAT(error(record(1, 0) + record(10, 0)),
              testing::HasSubstr("picture 1 has label 10; CIFAR-10 has 10 classes"));
}

}  // namespace
}  // namespace soft
