#include "metric/evaluate.h"

#include <cmath>

#include "data/toy.h"

namespace soft {
namespace {

LoaderOptions options_of(int64_t batch, bool training = false) {
  LoaderOptions options;
  options.batch = batch;
  options.training = training;
  options.workers = 2;
  options.preprocessing.size = 8;
  return options;
}

// Answers every picture of the toy set right, but those of class 3 with class 0.
std::vector<float> almost_right(const Batch& batch) {
  std::vector<float> logits(batch.count * 4, 0);
  for (int64_t j = 0; j < batch.count; ++j) logits[j * 4 + batch.labels[j] % 3] = 5;
  return logits;
}

TEST(Evaluate, CountsEveryPictureOnceWhateverTheBatch) {
  for (int64_t batch : {1, 3, 8, 100}) {
    Loader loader(test::toy_dataset(10), options_of(batch));
    int64_t reported = 0;
    EvaluateOptions options;
    options.progress = [&](int64_t done, int64_t images) {
      reported = done;
      EXPECT_EQ(images, 10);
    };
    const Evaluation result = evaluate(loader, almost_right, options);
    EXPECT_EQ(result.images, 10);
    EXPECT_EQ(reported, 10);
    EXPECT_DOUBLE_EQ(result.top1, 80);   // 2 of 10 are of class 3
    EXPECT_DOUBLE_EQ(result.top5, 100);  // four classes
    EXPECT_EQ(result.per_class[3].images, 2);
    EXPECT_EQ(result.per_class[3].correct, 0);
    EXPECT_EQ(result.per_class[0].answers, 5);  // its own three and those of class 3
    EXPECT_EQ(result.confusion.count(3, 0), 2);
    EXPECT_EQ(result.confusion.count(0, 0), 3);
    const double right = std::log(std::exp(5) + 3) - 5;
    EXPECT_NEAR(result.loss, 0.8 * right + 0.2 * (right + 5), 1e-9);
    EXPECT_GE(result.seconds, 0);
    EXPECT_TRUE(result.predictions.empty());
  }
}

TEST(Evaluate, ABrokenPictureIsAWrongAnswer) {
  testing::internal::CaptureStderr();
  Dataset dataset = test::toy_dataset(4);
  dataset.load = [load = dataset.load](int64_t index) {
    if (index < 2) fail("'toy/{}' is no picture", index);
    return load(index);
  };
  Loader loader(dataset, options_of(1));
  EvaluateOptions options;
  options.predictions = true;
  const Evaluation result = evaluate(loader, almost_right, options);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("'toy/1' is no picture"));
  EXPECT_EQ(result.images, 4);
  EXPECT_EQ(result.broken, 2);
  EXPECT_DOUBLE_EQ(result.top1, 25);
  EXPECT_DOUBLE_EQ(result.top5, 50);
  EXPECT_EQ(result.confusion.count(1, Confusion::kUnanswered), 1);
  ASSERT_EQ(result.predictions.size(), 4u);
  EXPECT_EQ(result.predictions[1].answer, -1);
  EXPECT_EQ(result.predictions[2].answer, 2);
}

TEST(Evaluate, RefusesLogitsOfAnotherNumberOfClassesAndTrainingLoaders) {
  Loader loader(test::toy_dataset(4), options_of(2));
  const auto ten = [](const Batch& batch) { return std::vector<float>(batch.count * 10); };
  EXPECT_THAT(test::error_of([&] { evaluate(loader, ten); }), testing::HasSubstr("4 classes"));
  Loader training(test::toy_dataset(4), options_of(2, true));
  EXPECT_THAT(test::error_of([&] { evaluate(training, almost_right); }),
              testing::HasSubstr("does not augment"));
}

TEST(Predictions, AreWrittenAsCsvInTheOrderOfTheSet) {
  const test::TemporaryFolder folder;
  Dataset dataset = test::toy_dataset(3);
  dataset.classes[1] = "b, \"quoted\"";
  Loader loader(dataset, options_of(2));
  EvaluateOptions options;
  options.predictions = true;
  const Evaluation result = evaluate(loader, almost_right, options);
  write_predictions(folder.path("p.csv"), dataset, result.predictions);
  const double p = std::exp(5) / (std::exp(5) + 3);
  EXPECT_EQ(test::read_file(folder.path("p.csv")),
            fmt::format("image,class,name,predicted,predicted_name,p\n"
                        "toy/0,0,a,0,a,{0:.6g}\n"
                        "toy/1,1,\"b, \"\"quoted\"\"\",1,\"b, \"\"quoted\"\"\",{0:.6g}\n"
                        "toy/2,2,c,2,c,{0:.6g}\n",
                        p));
}

}  // namespace
}  // namespace soft
