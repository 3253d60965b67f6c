#include "data/loader.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>

#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;
using test::toy_dataset;

LoaderOptions options_of(bool training, int64_t batch, int workers = 2) {
  LoaderOptions options;
  options.training = training;
  options.batch = batch;
  options.workers = workers;
  options.preprocessing.size = 8;
  return options;
}

std::vector<Batch> rest_of(Loader& loader) {
  std::vector<Batch> batches;
  while (const Batch* batch = loader.next()) batches.push_back(*batch);
  return batches;
}

std::vector<Batch> epoch_of(Loader& loader, int64_t epoch, int64_t first = 0) {
  loader.start(epoch, first);
  return rest_of(loader);
}

void expect_equal(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].number, b[i].number);
    EXPECT_EQ(a[i].epoch, b[i].epoch);
    EXPECT_EQ(a[i].indices, b[i].indices);
    EXPECT_EQ(a[i].labels, b[i].labels);
    EXPECT_EQ(a[i].targets, b[i].targets);
    EXPECT_EQ(a[i].pixels, b[i].pixels);
  }
}

// Pictures whose index is a multiple of `every` cannot be read.
Dataset with_broken(Dataset dataset, int64_t every) {
  dataset.load = [load = dataset.load, every](int64_t index) {
    if (index % every == 0) fail("'toy/{}': truncated JPEG", index);
    return load(index);
  };
  return dataset;
}

TEST(Loader, BatchesAreTheSameForAnyNumberOfWorkers) {
  Loader one(toy_dataset(50), options_of(true, 8, 1));
  for (int workers : {2, 4, 7}) {
    Loader many(toy_dataset(50), options_of(true, 8, workers));
    for (int64_t epoch : {0, 3}) expect_equal(epoch_of(one, epoch), epoch_of(many, epoch));
  }
}

TEST(Loader, AnEpochContinuesExactlyWhereItWasLeft) {
  Loader whole(toy_dataset(50), options_of(true, 8));
  const std::vector<Batch> all = epoch_of(whole, 2);
  Loader later(toy_dataset(50), options_of(true, 8));
  expect_equal(epoch_of(later, 2, 4), {all.begin() + 4, all.end()});
  EXPECT_TRUE(epoch_of(later, 2, 6).empty());
  EXPECT_THAT(error_of([&] { later.start(0, 7); }), testing::HasSubstr("batch 7 of an epoch of 6"));
}

TEST(Loader, AnEpochMayBeAbandonedAtAnyPoint) {
  Loader loader(toy_dataset(64), options_of(true, 4, 3));
  const std::vector<Batch> all = epoch_of(loader, 1);
  for (int taken = 0; taken < 16; ++taken) {
    loader.start(0);
    for (int i = 0; i < taken; ++i) ASSERT_NE(loader.next(), nullptr);
    expect_equal(epoch_of(loader, 1), all);
  }
}

TEST(Loader, ShapesOfATrainingBatch) {
  Loader loader(toy_dataset(20), options_of(true, 8));
  EXPECT_EQ(loader.next(), nullptr);  // not started
  loader.start(0);
  const Batch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->count, 8);
  EXPECT_EQ(batch->size, 8);
  EXPECT_EQ(batch->pixels.size(), 8u * 3 * 8 * 8);
  EXPECT_EQ(batch->targets.size(), 8u * 4);
  EXPECT_EQ(batch->labels.size(), 8u);
  const double mass = std::accumulate(batch->targets.begin(), batch->targets.end(), 0.0);
  EXPECT_NEAR(mass, 8, 1e-5);
  EXPECT_EQ(loader.batches(), 2);
}

TEST(Loader, EvaluationVisitsEverythingInOrderUnchanged) {
  const Dataset dataset = toy_dataset(11);
  Loader loader(dataset, options_of(false, 4));
  const std::vector<Batch> batches = epoch_of(loader, 0);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].count, 3);
  EXPECT_TRUE(batches[0].targets.empty());
  std::vector<float> expected(size_t{3} * 64);
  normalise(dataset.load(9), loader.options().preprocessing, expected.data());
  EXPECT_EQ(batches[2].indices[1], 9);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), batches[2].pixels.begin() + 192));
}

TEST(Loader, TwoRanksTogetherSeeWhatOneWouldSee) {
  LoaderOptions alone = options_of(true, 8);
  LoaderOptions half = alone;
  half.batch = 4;
  half.world = 2;
  Loader whole(toy_dataset(40), alone);
  Loader first(toy_dataset(40), half);
  half.rank = 1;
  Loader second(toy_dataset(40), half);
  const auto all = epoch_of(whole, 5);
  const auto left = epoch_of(first, 5);
  const auto right = epoch_of(second, 5);
  ASSERT_EQ(left.size(), all.size());
  ASSERT_EQ(right.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<float> pixels = left[i].pixels;
    pixels.insert(pixels.end(), right[i].pixels.begin(), right[i].pixels.end());
    EXPECT_EQ(pixels, all[i].pixels);
    std::vector<float> targets = left[i].targets;
    targets.insert(targets.end(), right[i].targets.begin(), right[i].targets.end());
    EXPECT_EQ(targets, all[i].targets);  // partners may be the other rank's
  }
}

TEST(Loader, BrokenTrainingPicturesAreReportedOnceAndReplacedTheSameWayEveryTime) {
  testing::internal::CaptureStderr();
  Loader one(with_broken(toy_dataset(40), 7), options_of(true, 8, 1));
  Loader four(with_broken(toy_dataset(40), 7), options_of(true, 8, 4));
  const std::vector<Batch> batches = epoch_of(one, 0);
  expect_equal(batches, epoch_of(four, 0));
  const std::string said = testing::internal::GetCapturedStderr();
  for (const Batch& batch : batches) {
    EXPECT_EQ(batch.count, 8);
    EXPECT_TRUE(batch.broken.empty());
    for (size_t j = 0; j < 8; ++j) {
      EXPECT_NE(batch.indices[j] % 7, 0);
      EXPECT_EQ(batch.labels[j], batch.indices[j] % 4);
    }
  }
  const std::string line = "'toy/7': truncated JPEG";
  const size_t place = said.find(line);
  ASSERT_NE(place, std::string::npos);
  EXPECT_EQ(said.find(line, place + 1), std::string::npos);
}

TEST(Loader, BrokenPicturesAreLeftOutOfEvaluationByName) {
  testing::internal::CaptureStderr();
  Loader loader(with_broken(toy_dataset(10), 6), options_of(false, 5));
  const std::vector<Batch> batches = epoch_of(loader, 0);
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_THAT(batches[0].indices, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(batches[0].count, 4);
  EXPECT_EQ(batches[0].pixels.size(), 4u * 3 * 64);
  ASSERT_EQ(batches[1].broken.size(), 1u);
  EXPECT_EQ(batches[1].broken[0].index, 6);
  EXPECT_EQ(batches[1].broken[0].label, 2);
  EXPECT_EQ(batches[1].broken[0].reason, "'toy/6': truncated JPEG");
}

TEST(Loader, ASetWithoutASingleGoodPictureEndsWithAnError) {
  testing::internal::CaptureStderr();
  Loader loader(with_broken(toy_dataset(8), 1), options_of(true, 4));
  loader.start(0);
  EXPECT_THAT(error_of([&] { loader.next(); }), testing::HasSubstr("in a row cannot be read"));
  testing::internal::GetCapturedStderr();
}

TEST(Loader, OtherFailuresInAWorkerReachTheConsumerInTheirTurn) {
  Dataset dataset = toy_dataset(16);
  dataset.load = [load = dataset.load](int64_t index) {
    if (index == 9) throw std::bad_alloc();
    return load(index);
  };
  Loader loader(dataset, options_of(false, 4, 3));
  loader.start(0);
  EXPECT_EQ(loader.next()->number, 0);
  EXPECT_EQ(loader.next()->number, 1);
  EXPECT_THROW(loader.next(), std::bad_alloc);
  EXPECT_EQ(loader.next()->number, 3);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(Loader, LeavingInTheMiddleOfABatchDoesNotFinishIt) {
  std::atomic<int> loads{0};
  Dataset dataset = toy_dataset(100'000);
  dataset.load = [&loads, load = dataset.load](int64_t index) {
    ++loads;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return load(index);
  };
  {
    Loader loader(dataset, options_of(true, 50'000));
    loader.start(0);
    while (loads == 0) std::this_thread::yield();
  }
  EXPECT_LT(loads, 50'000);
}

TEST(Loader, ImpossibleSettingsAreRefused) {
  const auto error = [](LoaderOptions options, int64_t pictures = 8) {
    return error_of([&] { Loader(toy_dataset(pictures), options); });
  };
  EXPECT_THAT(error(options_of(true, 9)), testing::HasSubstr("not enough for one batch of 9"));
  EXPECT_THAT(error(options_of(true, 0)), testing::HasSubstr("batch of 0"));
  EXPECT_THAT(error(options_of(true, 4, -1)), testing::HasSubstr("-1 loader workers"));
  LoaderOptions options = options_of(true, 4);
  options.rank = 2;
  options.world = 2;
  EXPECT_THAT(error(options), testing::HasSubstr("rank 2 of 2"));
  options = options_of(true, 4);
  options.augmentation.smoothing = 2;
  EXPECT_THAT(error(options), testing::HasSubstr("label smoothing is 2"));
}

}  // namespace
}  // namespace soft
