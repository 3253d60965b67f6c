#include "data/dataset.h"

#include <set>

#include "data/environment.h"
#include "data/installed.h"
#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;

std::string error_of_spec(const std::string& spec) {
  return error_of([&] { open_dataset({spec, Split::kValidation}); });
}

TEST(OpenDataset, AMistypedKindIsAnsweredWithTheNearestOne) {
  EXPECT_THAT(error_of_spec("cifar-10"), testing::HasSubstr("did you mean 'cifar10'"));
  EXPECT_THAT(error_of_spec("foldr:x"), testing::HasSubstr("did you mean 'folder'"));
  EXPECT_THAT(error_of_spec("folder"), testing::HasSubstr("write 'folder:DIR'"));
  EXPECT_THAT(error_of_spec("idx:"), testing::HasSubstr("names no folder"));
  EXPECT_THAT(error_of_spec("shapes:x"), testing::HasSubstr("drawn, not read"));
}

TEST(OpenDataset, AMissingSetComesWithItsCure) {
  const test::TemporaryFolder nothing;
  const test::Environment data("SOFT_DATA", nothing.path());
  const test::Environment home("HOME", nothing.path());
  const std::string message = error_of_spec("cifar10");
  EXPECT_THAT(message, testing::HasSubstr(nothing.path("cifar10")));
  EXPECT_THAT(message, testing::HasSubstr("soft data get cifar10 --out"));
}

TEST(OpenDataset, InstalledSetsAreFoundAndKnowTheirStatistics) {
  const test::TemporaryFolder folder;
  const test::Environment data("SOFT_DATA", folder.path());
  for (const char* name : {"mnist", "fashion-mnist"}) {
    std::filesystem::create_directory(folder.path(name));
    const std::string start = folder.path(name) + "/t10k-";
    test::write_file(start + "images-idx3-ubyte", test::idx_images(1, 28, 28));
    test::write_file(start + "labels-idx1-ubyte", test::idx_labels({9}));
  }
  const Dataset digits = open_dataset({"mnist", Split::kValidation});
  EXPECT_FLOAT_EQ(digits.mean[2], 0.1307f);
  EXPECT_FLOAT_EQ(digits.std[0], 0.3081f);
  EXPECT_FALSE(digits.mirrors);
  EXPECT_EQ(digits.describe(0), "mnist/val/0");
  const Dataset garments = open_dataset({"fashion-mnist", Split::kValidation});
  EXPECT_FLOAT_EQ(garments.mean[0], 0.2860f);
  EXPECT_TRUE(garments.mirrors);
  EXPECT_EQ(garments.classes[9], "ankle boot");
}

TEST(OpenDataset, ALimitTakesTheSamePicturesFromAllOverTheSet) {
  DataRequest request{"shapes", Split::kTrain};
  const Dataset all = open_dataset(request);
  request.limit = 500;
  const Dataset some = open_dataset(request);
  ASSERT_EQ(some.size(), 500);
  EXPECT_EQ(std::set<int>(some.labels.begin(), some.labels.end()).size(), 10u);
  const std::string name = some.describe(499);
  const int64_t original = std::stoll(name.substr(name.rfind('/') + 1));
  EXPECT_GT(original, all.size() * 9 / 10);
  EXPECT_EQ(some.load(499).rgb, all.load(original).rgb);
  EXPECT_EQ(some.labels[499], all.labels[original]);
  EXPECT_EQ(open_dataset(request).describe(123), some.describe(123));
}

TEST(OpenDataset, AnImpossibleLimitOrSizeIsRefused) {
  EXPECT_THAT(error_of([] {
                open_dataset({"shapes", Split::kTrain, -1});
              }),
              testing::HasSubstr("limit of -1"));
  EXPECT_THAT(error_of([] {
                open_dataset({"shapes", Split::kTrain, 0, 4});
              }),
              testing::HasSubstr("at least 8 pixels"));
}

class HeldOut : public testing::Test {
 protected:
  void fill(const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      test::write_png(folder_.path(name + "/" + std::to_string(i) + ".png"),
                      test::solid(3, 2, 0, 0, 0));
    }
  }
  Dataset open(Split split, double fraction = 0) {
    DataRequest request;
    request.spec = "folder:" + folder_.path();
    request.split = split;
    request.val_fraction = fraction;
    return open_dataset(request);
  }
  static std::vector<std::string> files(const Dataset& dataset) {
    std::vector<std::string> names;
    for (int64_t i = 0; i < dataset.size(); ++i) names.push_back(dataset.describe(i));
    return names;
  }
  test::TemporaryFolder folder_;
};

TEST_F(HeldOut, ATenthOfEachClassOfAnUndividedFolderAndAlwaysTheSame) {
  fill("cats", 40);
  fill("dogs", 20);
  const Dataset train = open(Split::kTrain), val = open(Split::kValidation);
  EXPECT_EQ(std::count(val.labels.begin(), val.labels.end(), 0), 4);
  EXPECT_EQ(std::count(val.labels.begin(), val.labels.end(), 1), 2);
  EXPECT_EQ(train.size(), 54);
  EXPECT_EQ(train.held_out, 0.1);
  auto all = files(train), held = files(val);
  EXPECT_EQ(files(open(Split::kValidation)), held);
  all.insert(all.end(), held.begin(), held.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 60);
}

TEST_F(HeldOut, AFractionReplacesTheSetsOwnValidationPictures) {
  fill("train/cats", 10);
  fill("val/cats", 3);
  EXPECT_EQ(open(Split::kValidation).size(), 3);
  EXPECT_EQ(open(Split::kTrain).held_out, 0);
  EXPECT_EQ(open(Split::kTrain, 0.4).size(), 6);
  EXPECT_EQ(open(Split::kValidation, 0.4).size(), 4);
  EXPECT_THAT(open(Split::kValidation, 0.4).describe(0), testing::HasSubstr("/train/cats/"));
}

TEST_F(HeldOut, AClassOfOnePictureKeepsItToLearnFrom) {
  fill("cats", 1);
  fill("dogs", 2);
  EXPECT_EQ(open(Split::kTrain).size(), 2);
  EXPECT_THAT(open(Split::kValidation).labels, testing::ElementsAre(1));
  std::filesystem::remove_all(folder_.path("dogs"));
  EXPECT_THAT(test::error_of([&] { open(Split::kValidation); }),
              testing::HasSubstr("one picture a class"));
  EXPECT_THAT(test::error_of([&] { open(Split::kTrain, 1); }), testing::HasSubstr("[0, 1)"));
}

TEST(Preprocessing, FollowsTheSetAndTheSize) {
  Dataset dataset;
  EXPECT_EQ(preprocessing_of(dataset, 224).short_side, 248);
  EXPECT_EQ(preprocessing_of(dataset, 32).short_side, 35);
  EXPECT_FLOAT_EQ(preprocessing_of(dataset, 32).mean[0], 0.485f);
  dataset.mean = {0.1f, 0.2f, 0.3f};
  EXPECT_EQ(preprocessing_of(dataset, 32).mean, dataset.mean);
}

TEST(Fit, NativePicturesStayWholeAndPhotosGetTheEvaluationCrop) {
  Dataset dataset;
  const Image picture = test::ramp(40, 40);
  const Preprocessing same = preprocessing_of(dataset, 40);
  dataset.native_size = 40;
  EXPECT_EQ(fit(picture, dataset, same).rgb, picture.rgb);
  const Preprocessing smaller = preprocessing_of(dataset, 20);
  EXPECT_EQ(fit(picture, dataset, smaller).rgb, resize(picture, 20, 20, Filter::kBicubic).rgb);
  dataset.native_size = 0;
  EXPECT_EQ(fit(picture, dataset, same).rgb, evaluation_crop(picture, same).rgb);
}

}  // namespace
}  // namespace soft
