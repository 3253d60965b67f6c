#include <sys/resource.h>

#include "base/json.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

Json rows_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

TEST(BenchModel, PrintsARowPerBatchWithTheKeysOfTheContract) {
  const Json rows = rows_of({"bench", "model", "--model", "soft-nano", "--batch", "1,3", "--repeat",
                             "2", "--threads", "1", "--json"});
  ASSERT_EQ(rows.size(), 2u);
  for (const char* key :
       {"model", "engine", "batch", "threads", "images_per_second", "ms_median", "ms_best"}) {
    EXPECT_TRUE(rows[0].contains(key)) << key;
  }
  EXPECT_EQ(rows[0].at("engine"), "native");
  EXPECT_EQ(rows[0].at("threads"), 1);
  EXPECT_EQ(rows[1].at("batch"), 3);
  const double rate = rows[1].at("images_per_second"), median = rows[1].at("ms_median");
  EXPECT_NEAR(rate * median, 3000, 1e-6);
  EXPECT_LE(rows[1].at("ms_best").get<double>(), median);
}

TEST(BenchModel, TakesAWeightsFileAndASize) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w.safetensors"), find_model("soft-nano"));
  const Json rows = rows_of({"bench", "model", "--weights", folder.path("w.safetensors"), "--size",
                             "40x48", "--repeat", "1", "--json"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("model"), "soft-nano");
  EXPECT_EQ(rows[0].at("size"), "40x48");
}

TEST(BenchModel, WritesTheSameRowsAsCsv) {
  const test::TemporaryFolder folder;
  const Outcome outcome = run_soft({"bench", "model", "--model", "soft-nano", "--repeat", "1",
                                    "--csv", folder.path("rows.csv")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("images_per_second"));
  EXPECT_THAT(
      test::read_file(folder.path("rows.csv")),
      testing::StartsWith("model,engine,batch,threads,images_per_second,ms_median,ms_best,"));
}

TEST(BenchModel, RefusesWhatItCannotMeasure) {
  const auto refused = [](std::vector<std::string> arguments, int code, const char* part) {
    arguments.insert(arguments.begin(), {"bench", "model", "--repeat", "1"});
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  refused({"--model", "soft-nanno"}, 2, "did you mean 'soft-nano'");
  refused({"--batch", "0"}, 2, "--batch");
  refused({"--batch", "1,x"}, 2, "--batch");
  refused({"--size", "31"}, 2, "--size");
  refused({"--compare", "--engine", "torch"}, 2, "--engine excludes --compare");
  refused({"--csv", "/nowhere/rows.csv"}, 1, "there is no folder");
  refused({"--model", "vit-small-pre", "--engine", "native"}, 1, "use --engine torch");
}

TEST(BenchRoofline, TellsWhatTheMachineAllowsAndWhatAModelReaches) {
  const Json rows = rows_of(
      {"bench", "roofline", "--model", "soft-nano", "--batch", "2", "--repeat", "1", "--json"});
  ASSERT_EQ(rows.size(), 5u);
  double peak = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(rows[i].at("what").get<std::string>(), testing::StartsWith("matmul "));
    peak = std::max(peak, rows[i].at("gflops").get<double>());
  }
  EXPECT_EQ(rows[3].at("what"), "memory triad");
  EXPECT_GT(rows[3].at("gigabytes_per_second"), 0);
  EXPECT_EQ(rows[4].at("model"), "soft-nano");
  EXPECT_NEAR(rows[4].at("roofline_share"), rows[4].at("gflops").get<double>() / peak, 1e-9);
}

TEST(BenchTable1, CountsEveryMechanismInOneFrame) {
  const Json rows = rows_of({"bench", "table1", "--counts", "--json"});
  ASSERT_EQ(rows.size(), 6u);
  for (const Json& row : rows) {
    if (row.at("attention") == "soft") {
      EXPECT_EQ(row.at("params"), 13'069'056);
      EXPECT_NEAR(row.at("gmacs"), 1.928, 1e-3);
      EXPECT_EQ(row.at("paper_top1"), 79.3);
    }
    if (row.at("attention") == "softmax") {
      EXPECT_NEAR(row.at("gmacs"), 3.56, 0.01 * 3.56);
    }
  }
}

TEST(BenchTable1, ReadsAccuraciesBackAndLeavesThinRowsEmpty) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("cells.csv"),
                   "cell,seed,images,top1,seconds\nsoft,1,4,70,1\nsoft,2,4,71,1\nsoft,3,4,72,1\n"
                   "softmax,1,4,70,1\n");
  const Json rows = rows_of({"bench", "table1", "--counts", "--attention", "soft,softmax",
                             "--accuracy", folder.path(), "--json"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("top1"), 71.0);
  EXPECT_EQ(rows[0].at("seeds"), 3);
  EXPECT_TRUE(rows[1].at("top1").is_null());
}

TEST(BenchAblation, VariesOneSettingAtATime) {
  const Json rows = rows_of({"bench", "ablation", "--vary", "landmarks", "--counts", "--json"});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("landmarks"), "36");
  EXPECT_LT(rows[0].at("gmacs"), rows[3].at("gmacs"));
  for (const char* what :
       {"sampler", "pyramid", "overlap", "inverse", "iterations", "value-path", "stage4"}) {
    EXPECT_GE(rows_of({"bench", "ablation", "--vary", what, "--counts", "--json"}).size(), 2u);
  }
}

TEST(Bench, RefusesWhatMakesNoSense) {
  const auto refused = [](const std::vector<std::string>& arguments, int code, const char* part) {
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
  };
  refused({"bench", "ablation", "--vary", "landmark", "--counts"}, 2, "did you mean 'landmarks'");
  refused({"bench", "ablation", "--vary", "landmarks", "--values", "9999", "--counts"}, 2, "9999");
  refused({"bench", "table1", "--attention", "sotf"}, 2, "did you mean 'soft'");
  refused({"bench", "table1", "--counts", "--accuracy", "/nowhere"}, 1, "scripts/accuracy");
  refused({"bench", "attention", "--side", "30"}, 2, "multiple of 7");
  refused({"bench", "attention", "--plot", "chart.gif"}, 2, ".svg or a .png");
  refused({"bench", "newton", "--attention", "softmax", "--model", "soft-nano"}, 2, "no inverse");
  refused({"bench", "newton", "--data", "nothing"}, 2, "nothing");
  refused({"bench", "newton", "--model", "soft-nano", "--weights-key", "ema"}, 2,
          "--weights-key ema chooses");
  refused({"bench", "roofline", "--model", "soft-nano", "--attention", "softmax"}, 1,
          "not softmax; measure another model here, or this one with `soft bench model`");
}

#if SOFT_WITH_TORCH
TEST(BenchAttention, MeasuresTimeAndMemoryAndFitsTheirGrowth) {
  const test::TemporaryFolder folder;
  const Json rows = rows_of({"bench", "attention", "--attention", "soft,gaussian", "--side",
                             "14,28", "--repeat", "1", "--plot", folder.path("a.svg"), "--json"});
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].at("tokens"), 196);
  EXPECT_GT(rows[3].at("mb").get<double>(), 2 * 784 * 784 * 4 / 1e6) << "gaussian keeps its matrix";
  EXPECT_GT(rows[5].at("memory_exponent").get<double>(), rows[4].at("memory_exponent"));
  EXPECT_THAT(test::read_file(folder.path("a.svg")), HasSubstr("gaussian (n^"));
}

TEST(BenchAttention, OneSizeShowsNoGrowth) {
  const test::TemporaryFolder folder;
  const Json rows = rows_of({"bench", "attention", "--attention", "soft", "--side", "14",
                             "--repeat", "1", "--plot", folder.path("a.svg"), "--json"});
  EXPECT_EQ(rows.size(), 1u);
  const std::string chart = test::read_file(folder.path("a.svg"));
  EXPECT_THAT(chart, HasSubstr("soft"));
  EXPECT_THAT(chart, testing::Not(HasSubstr("n^")));
}

TEST(BenchMemory, AKernelOfAllPairsTakesSeveralTimesWhatSoftDoes) {
  const Json rows = rows_of({"bench", "memory", "--attention", "soft,gaussian", "--multiple", "1",
                             "--forward", "--json"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("tokens"), 784);
  EXPECT_GT(rows[1].at("forward_mb").get<double>(), 3 * rows[0].at("forward_mb").get<double>());
}

TEST(BenchMemory, AllThatShortenTheirKeysHaveFortyNineLandmarksAtEverySize) {
  const Json rows = rows_of({"bench", "memory", "--attention", "linformer,nystromformer",
                             "--multiple", "1,3", "--forward", "--json"});
  for (const size_t small : {0, 2}) {
    const double mb = rows[small].at("forward_mb");
    EXPECT_LT(rows[small + 1].at("forward_mb").get<double>(), 4 * mb) << rows[small];
  }
}

TEST(BenchMemory, TheLegendTellsTheGrowth) {
  const test::TemporaryFolder folder;
  rows_of({"bench", "memory", "--attention", "soft", "--multiple", "1,2", "--forward", "--plot",
           folder.path("m.svg"), "--json"});
  EXPECT_THAT(test::read_file(folder.path("m.svg")), HasSubstr("soft (n^"));
}

#ifndef __SANITIZE_ADDRESS__  // whose shadow takes more than any limit on memory leaves
// The program with so much memory that one thread of LibTorch fits, and no large matrix.
Outcome run_soft_in_little_memory(const std::vector<std::string>& arguments) {
  rlimit before{};
  getrlimit(RLIMIT_DATA, &before);
  const rlimit tight{rlim_t{1'500'000'000}, before.rlim_max};
  setrlimit(RLIMIT_DATA, &tight);
  Outcome outcome = run_soft(arguments);
  setrlimit(RLIMIT_DATA, &before);
  return outcome;
}

TEST(BenchMemory, WhatDoesNotFitIsSaidAndNothingLargerIsTried) {
  const Outcome outcome =
      run_soft_in_little_memory({"bench", "memory", "--attention", "gaussian", "--multiple", "1,2",
                                 "--threads", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  // Known beforehand, or found out by LibTorch: by how much of the limit its libraries take.
  EXPECT_THAT(outcome.err, HasSubstr("784 tokens, step: "));
  EXPECT_THAT(outcome.err,
              testing::AnyOf(HasSubstr("step: out of memory"), HasSubstr("MB are available")));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("1568 tokens, step")));
  const Json rows = Json::parse(outcome.out);
  EXPECT_TRUE(rows[0].at("forward_mb").is_number());
  EXPECT_TRUE(rows[0].at("step_mb").is_null());
  EXPECT_TRUE(rows[1].at("step_mb").is_null());
}
#endif

TEST(BenchNewton, ShowsTheResidualFallStepByStepInEveryStage) {
  const test::TemporaryFolder folder;
  const Json rows =
      rows_of({"bench", "newton", "--images", "2", "--plot", folder.path("newton.png"), "--json"});
  ASSERT_EQ(rows.size(), 3u * 3u * 21u) << "modes x stages x steps";
  EXPECT_EQ(rows[0].at("inverse"), "newton");
  EXPECT_GT(rows[0].at("residual").get<double>(), 10 * rows[20].at("residual").get<double>());
  EXPECT_LT(rows[20].at("residual").get<double>(), 1e-2);
  EXPECT_THAT(test::read_file(folder.path("newton.png")), testing::StartsWith("\x89PNG"));
}

TEST(BenchTable1, MeasuresMemoryAndSpeedOfEachMechanism) {
  const Json rows = rows_of({"bench", "table1", "--model", "soft-pico", "--batch", "2",
                             "--attention", "soft,softmax", "--repeat", "1", "--json"});
  ASSERT_EQ(rows.size(), 2u);
  for (const char* key : {"step_mb", "train_images_per_second", "images_per_second"}) {
    EXPECT_GT(rows[0].at(key).get<double>(), 0) << key;
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST(BenchTable1, AMechanismThatDoesNotFitLeavesTheOthersTheirRows) {
  const Outcome outcome = run_soft_in_little_memory(
      {"bench", "table1", "--model", "soft-pico", "--set", "image_size=224", "--set",
       "landmarks=49", "--batch", "1", "--attention", "gaussian,soft", "--repeat", "1", "--threads",
       "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("memory of gaussian"));
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  for (const char* key : {"step_mb", "train_images_per_second", "images_per_second"}) {
    EXPECT_TRUE(rows[0].at(key).is_null()) << rows[0];
    EXPECT_TRUE(rows[1].at(key).is_number()) << rows[1];
  }
}
#endif

TEST(BenchModel, ComparesTheEnginesInOneRun) {
  const Json rows =
      rows_of({"bench", "model", "--model", "soft-nano", "--compare", "--repeat", "2", "--json"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("engine"), "native");
  EXPECT_EQ(rows[1].at("engine"), "torch");
  EXPECT_EQ(rows[2].at("engine"), "torch-plain");
  EXPECT_EQ(rows[2].at("speedup"), 1.0);
  const Outcome table =
      run_soft({"bench", "model", "--model", "soft-nano", "--compare", "--repeat", "1"});
  EXPECT_THAT(table.out, HasSubstr("batch 1: native float32 is "));
}

TEST(BenchModel, ComparesWhatRemainsWhenTheNativeEngineCannotTakePart) {
  const Outcome outcome = run_soft({"bench", "model", "--model", "soft-nano", "--attention",
                                    "softmax", "--compare", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("comparing the others"));
  EXPECT_EQ(Json::parse(outcome.out).size(), 2u);
}

TEST(BenchTrain, ComparesAStepOnTheKernelsWithThePlainOne) {
  const test::Outcome outcome = run_soft({"bench", "train", "--model", "soft-pico", "--batch", "2",
                                          "--compare", "--repeat", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("engine"), "torch");
  EXPECT_EQ(rows[1].at("engine"), "torch-plain");
  EXPECT_GT(rows[0].at("images_per_second").get<double>(), 0);
}
#endif

}  // namespace
}  // namespace soft
