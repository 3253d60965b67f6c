#include "data/pack_shards.h"

#include <filesystem>
#include <set>

#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::solid;
using testing::ElementsAre;
using testing::HasSubstr;

class PackShards : public testing::Test {
 protected:
  PackShards() {
    for (const char* folder : {"in/train/cat", "in/train/dog", "in/val/cat"}) {
      for (int i = 0; i < 6; ++i) {
        test::write_png(folder_.path(fmt::format("{}/{}.png", folder, i)),
                        solid(9, 7, static_cast<uint8_t>(10 * i), folder[3] == 't', 0));
      }
    }
  }
  Dataset folder(Split split) { return open_folder(folder_.path("in"), {split}); }
  Dataset shards(Split split) { return open_shards(folder_.path("out"), {split}); }
  PackedShards pack(int64_t size) {
    return pack_shards(folder(Split::kTrain), folder(Split::kValidation), folder_.path("out"),
                       size);
  }
  // Every file of a set and the name of its class, whatever their order.
  static std::multiset<std::pair<std::string, std::string>> contents(const Dataset& dataset) {
    std::multiset<std::pair<std::string, std::string>> found;
    for (int64_t i = 0; i < dataset.size(); ++i) {
      const auto bytes = dataset.read(i);
      found.emplace(std::string(bytes.begin(), bytes.end()), dataset.classes[dataset.labels[i]]);
    }
    return found;
  }
  test::TemporaryFolder folder_;
};

TEST_F(PackShards, HoldTheSameFilesLabelsAndClassesAsTheFolder) {
  const PackedShards packed = pack(4000);
  EXPECT_EQ(packed.pictures, 18);
  EXPECT_GT(packed.shards, 10);
  for (const Split split : {Split::kTrain, Split::kValidation}) {
    EXPECT_EQ(contents(shards(split)), contents(folder(split)));
    EXPECT_EQ(shards(split).classes, folder(split).classes);
  }
  for (const auto& entry : fs::directory_iterator(folder_.path("out"))) {
    if (entry.path().extension() == ".tar") {
      EXPECT_LE(entry.file_size(), 4000u) << entry.path();
    }
  }
}

TEST_F(PackShards, MixTheClassesAndAreTheSameEachTime) {
  pack(1'000'000);
  const std::string first = test::read_file(folder_.path("out/train-000000.tar"));
  EXPECT_THAT(shards(Split::kTrain).labels,
              testing::Not(ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1)));
  fs::remove_all(folder_.path("out"));
  pack(1'000'000);
  EXPECT_EQ(test::read_file(folder_.path("out/train-000000.tar")), first);
}

TEST_F(PackShards, HaveTheirIndexFromTheStart) {
  pack(1'000'000);
  const std::string index = test::read_file(folder_.path("out/.soft-index"));
  EXPECT_EQ(shards(Split::kTrain).size(), 12);
  EXPECT_EQ(test::read_file(folder_.path("out/.soft-index")), index);
  // Not looked at again: a shard of the same size and time may hold anything.
  const std::string path = folder_.path("out/train-000000.tar");
  const auto time = fs::last_write_time(path);
  test::write_file(path, std::string(fs::file_size(path), 'x'));
  fs::last_write_time(path, time);
  EXPECT_EQ(shards(Split::kTrain).size(), 12);
}

TEST_F(PackShards, NameWhatCannotBeReadAndLeaveItOut) {
  test::write_file(folder_.path("in/train/cat/broken.jpg"), "no picture");
  const Dataset train = folder(Split::kTrain);
  fs::remove(folder_.path("in/train/dog/3.png"));
  testing::internal::CaptureStderr();
  const PackedShards packed = pack_shards(train, {}, folder_.path("out"), 1'000'000);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("dog/3.png'"));
  EXPECT_EQ(packed.pictures, 12) << "a broken picture is packed as it is";
  const Dataset dataset = open_shards(folder_.path("out"), {Split::kTrain});
  int broken = 0;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    if (dataset.describe(i).find("-broken.jpg") == std::string::npos) continue;
    EXPECT_THAT(error_of([&] { dataset.load(i); }), HasSubstr("-broken.jpg'"));
    ++broken;
  }
  EXPECT_EQ(broken, 1);
}

TEST_F(PackShards, NamesWithDotsAndOddCharactersStaySamplesOfTheirOwn) {
  for (const char* name : {"a.b.png", "a_b.png", "a b.png", "a\nb.jpg", ".hidden.png", "ä.png"}) {
    test::write_png(folder_.path(std::string("odd/x/") + name), solid(3, 2, name[1], 0, 0));
  }
  test::write_png(folder_.path("odd/x/" + std::string(200, 'n') + ".png"), solid(3, 2, 0, 0, 0));
  const Dataset odd = open_folder(folder_.path("odd"), {Split::kTrain});
  ASSERT_EQ(odd.size(), 7);
  EXPECT_EQ(pack_shards(odd, {}, folder_.path("out"), 1'000'000).pictures, 7);
  EXPECT_EQ(contents(shards(Split::kTrain)), contents(odd));
}

TEST_F(PackShards, PicturesWithoutFilesBecomePngs) {
  pack_shards(test::toy_dataset(5), {}, folder_.path("out"), 1'000'000);
  const Dataset dataset = shards(Split::kTrain);
  ASSERT_EQ(dataset.size(), 5);
  EXPECT_THAT(dataset.describe(0), testing::EndsWith(".png"));
  EXPECT_EQ(dataset.load(0).width, 8);
}

TEST_F(PackShards, AreNotMixedWithOthers) {
  pack(1'000'000);
  EXPECT_THAT(error_of([&] { pack(1'000'000); }), HasSubstr("already has shards ('"));
  EXPECT_FALSE(fs::exists(folder_.path("out/.packing")));
}

}  // namespace
}  // namespace soft
