#include <filesystem>
#include <numeric>
#include <set>

#include "data/loader.h"
#include "data/shard_order.h"
#include "data/source.h"
#include "data/toy.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::png_bytes;
using test::solid;
using test::tar;
using test::tar_members;
using testing::ElementsAre;
using testing::HasSubstr;

class ShardSet : public testing::Test {
 protected:
  static std::string picture(int red) {
    return png_bytes(solid(40, 36, static_cast<uint8_t>(red), 0, 0));
  }
  void write(const std::string& name, const std::string& bytes) {
    test::write_file(folder_.path(name), bytes);
  }
  // `count` pictures whose red is their number, in classes 0, 1, 2, 0, …
  void write_numbered(const std::string& name, int first, int count) {
    test::Members members;
    for (int i = first; i < first + count; ++i) {
      members.push_back({fmt::format("{:03}.cls", i), std::to_string(i % 3)});
      members.push_back({fmt::format("{:03}.png", i), picture(i)});
    }
    write(name, tar(members));
  }
  Dataset open(Split split = Split::kTrain, const std::string& names = "") {
    return open_shards(folder_.path(names), {split});
  }
  std::string stderr_of(const std::function<void()>& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  }
  test::TemporaryFolder folder_;
};

TEST_F(ShardSet, SamplesAreTheMembersThatShareAName) {
  write("train-0.tar", tar({{"n/x.1.jpg", "not a picture's ending"},
                            {"n/a.cls", " 2\n"},
                            {"n/a.mask.png", picture(9)},
                            {"n/a.PNG", picture(1)},
                            {"n/a.txt", "a caption"},
                            {"b.png", picture(2)},
                            {"b.json", "{\"caption\": \"x\", \"label\": 1}"},
                            {"c.json", "{\"cls\": 1, \"label\": 7}"},
                            {"c.cls", "0"},
                            {"c.png", picture(3)}}));
  const Dataset dataset = open();
  EXPECT_THAT(dataset.labels, ElementsAre(2, 1, 0));
  EXPECT_THAT(dataset.classes, ElementsAre("0", "1", "2"));
  EXPECT_THAT(dataset.shards, ElementsAre(0));
  EXPECT_EQ(dataset.load(0).rgb[0], 1);
  EXPECT_EQ(dataset.load(2).rgb[0], 3);
  EXPECT_EQ(dataset.describe(0), folder_.path("train-0.tar/n/a.PNG"));
  const auto bytes = dataset.read(1);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), picture(2));
}

TEST_F(ShardSet, IncompleteSamplesAreNamedAndLeftOut) {
  write("train-0.tar", tar({{"a.png", picture(1)},
                            {"b.cls", "1"},
                            {"c.cls", "cat"},
                            {"c.png", picture(3)},
                            {"d.cls", "-1"},
                            {"d.png", picture(3)},
                            {"e.json", "[]"},
                            {"e.png", picture(3)},
                            {"f.cls", "0"},
                            {"f.png", picture(4)}}));
  const std::string err = stderr_of([&] { EXPECT_EQ(open().size(), 1); });
  EXPECT_THAT(err, HasSubstr("train-0.tar': 5 samples are left out; the first: 'a' has no label"));
  write("train-0.tar", tar({{"c.cls", "cat"}, {"c.png", picture(3)}}));
  EXPECT_THAT(stderr_of([&] { EXPECT_THAT(error_of([&] { open(); }), HasSubstr("no labelled")); }),
              HasSubstr("'c': the label 'cat' is no number"));
}

TEST_F(ShardSet, ATruncatedShardIsNamedAndItsGoodSamplesAreUsed) {
  write_numbered("train-0.tar", 0, 5);
  write_numbered("train-1.tar", 5, 5);
  const std::string whole = test::read_file(folder_.path("train-1.tar"));
  write("train-1.tar", whole.substr(0, whole.size() - 1024 - 500));
  const std::string err = stderr_of([&] { EXPECT_EQ(open().size(), 9); });
  EXPECT_THAT(err, HasSubstr("train-1.tar': truncated: '009.png' is"));
}

TEST_F(ShardSet, ABrokenMemberIsNamedWhenItIsReadAndAnotherTakesItsPlace) {
  write("train-0.tar",
        tar({{"a.cls", "0"}, {"a.jpg", "no picture"}, {"b.cls", "1"}, {"b.png", picture(7)}}));
  const Dataset dataset = open();
  EXPECT_THAT(error_of([&] { dataset.load(0); }), HasSubstr("train-0.tar/a.jpg'"));
  LoaderOptions options;
  options.training = true;
  options.batch = 2;
  options.augmentation.erasing = 0;
  options.preprocessing = preprocessing_of(dataset, 32);
  Loader loader(dataset, options);
  loader.start(0);
  const std::string err = stderr_of([&] {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_THAT(batch->indices, ElementsAre(1, 1));
  });
}

TEST_F(ShardSet, AFileThatBecameShorterIsAnErrorAndNoSignal) {
  write_numbered("train-0.tar", 0, 3);
  const Dataset dataset = open();
  fs::resize_file(folder_.path("train-0.tar"), 1024);
  EXPECT_THAT(error_of([&] { dataset.load(2); }), HasSubstr("became shorter"));
}

TEST_F(ShardSet, ClassesHaveTheNamesOfTheList) {
  write_numbered("train-0.tar", 0, 6);
  write("classes.txt", "0 grey fox\n2 cat\n3 dog\n");
  EXPECT_THAT(open().classes, ElementsAre("grey fox", "1", "cat", "dog"));
  write("classes.txt", "0 grey fox\n1 cat\n");
  EXPECT_THAT(error_of([&] { open(); }),
              HasSubstr("names 2 classes, but there are pictures of class 2"));
  write("classes.txt", "nothing of the kind\n");
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("names no class"));
}

TEST_F(ShardSet, ValidationHasItsOwnShardsAndTheClassesOfTraining) {
  write_numbered("train-0.tar", 0, 6);
  write("val-0.tar", tar({{"x.cls", "1"}, {"x.png", picture(200)}}));
  const Dataset val = open(Split::kValidation, "train-{0..0}.tar");
  EXPECT_THAT(val.labels, ElementsAre(1));
  EXPECT_EQ(val.class_count(), 3);
  DataRequest request;
  request.spec = "tar:" + folder_.path();
  EXPECT_EQ(open_dataset(request).size(), 6) << "nothing is held out";
}

TEST_F(ShardSet, WithoutValidationShardsATenthIsHeldOut) {
  write_numbered("train-0.tar", 0, 30);
  write_numbered("train-1.tar", 30, 30);
  DataRequest request;
  request.spec = "tar:" + folder_.path();
  const Dataset train = open_dataset(request);
  request.split = Split::kValidation;
  const Dataset val = open_dataset(request);
  EXPECT_EQ(train.size(), 54);
  EXPECT_EQ(val.size(), 6);
  ASSERT_EQ(train.shards.size(), 2u);
  EXPECT_LT(train.describe(train.shards[1] - 1), folder_.path("train-1.tar"));
  EXPECT_THAT(train.describe(train.shards[1]), HasSubstr("train-1.tar"));
}

TEST_F(ShardSet, TheListingIsKeptAndAChangedShardIsListedAnew) {
  write_numbered("train-0.tar", 0, 4);
  write_numbered("train-1.tar", 4, 4);
  for (const char* name : {"train-0.tar", "train-1.tar"}) test::make_old(folder_.path(name));
  EXPECT_EQ(open().size(), 8);
  ASSERT_TRUE(fs::exists(folder_.path(".soft-index")));
  // Damage that only a look at the shard would notice shows that there was none.
  const auto time = fs::last_write_time(folder_.path("train-0.tar"));
  std::string bytes = test::read_file(folder_.path("train-0.tar"));
  bytes.replace(0, 512, std::string(512, 'x'));
  write("train-0.tar", bytes);
  fs::last_write_time(folder_.path("train-0.tar"), time);
  EXPECT_EQ(open().size(), 8);
  write_numbered("train-1.tar", 4, 9);
  EXPECT_EQ(open().size(), 13);
}

// Batches as the indices of their pictures, from the first batch on.
std::vector<std::vector<int64_t>> batches_of(const Dataset& dataset, LoaderOptions options,
                                             int64_t first) {
  Loader loader(dataset, options);
  loader.start(2, first);
  std::vector<std::vector<int64_t>> batches;
  while (const Batch* batch = loader.next()) batches.push_back(batch->indices);
  return batches;
}

TEST_F(ShardSet, ResumedInMidShardGivesTheSameBatches) {
  for (int shard = 0; shard < 6; ++shard) {
    write_numbered(fmt::format("train-{}.tar", shard), 10 * shard, 10);
  }
  const Dataset dataset = open();
  LoaderOptions options;
  options.training = true;
  options.batch = 4;
  options.shuffle = 16;
  options.preprocessing = preprocessing_of(dataset, 32);
  const auto all = batches_of(dataset, options, 0);
  ASSERT_EQ(all.size(), 15u);
  EXPECT_EQ(batches_of(open(), options, 7),
            std::vector<std::vector<int64_t>>(all.begin() + 7, all.end()));
}

TEST_F(ShardSet, RanksShareEachGlobalBatchPixelForPixel) {
  for (int shard = 0; shard < 4; ++shard) {
    write_numbered(fmt::format("train-{}.tar", shard), 10 * shard, 10);
  }
  const Dataset dataset = open();
  LoaderOptions options;
  options.training = true;
  options.shuffle = 16;
  options.preprocessing = preprocessing_of(dataset, 32);
  options.augmentation.mix_probability = 0;
  options.batch = 8;
  Loader alone(dataset, options);
  alone.start(0);
  options.batch = 4;
  options.world = 2;
  Loader first(dataset, options);
  first.start(0);
  options.rank = 1;
  Loader second(dataset, options);
  second.start(0);
  for (int step = 0; step < 5; ++step) {
    const Batch* whole = alone.next();
    std::vector<float> halves = first.next()->pixels;
    const Batch* half = second.next();
    halves.insert(halves.end(), half->pixels.begin(), half->pixels.end());
    ASSERT_EQ(whole->pixels, halves) << "step " << step;
  }
}

}  // namespace
}  // namespace soft
