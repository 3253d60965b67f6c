// `soft eval`, run as people run it, on the set that needs no files.
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "cli/weights_file.h"
#include "data/dataset.h"
#include "data/toy.h"
#include "support/support.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::run_soft;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kContradiction = "in the weights and";

Outcome eval_shapes(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"eval", "--data", "shapes", "--limit-val", "3"});
  return run_soft(arguments);
}

ModelSpec model_of(int classes) {
  ModelSpec spec = find_model("soft-pico");
  set_field(spec, "classes", std::to_string(classes));
  return spec;
}

TEST(Eval, OtherClassesOfTheSameNumberAreAWarning) {
  const Outcome outcome = eval_shapes({"--json"});  // with the model in the box, CIFAR-10's
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("class 0 is 'airplane' in the weights and 'circle' in 'shapes'"));
  EXPECT_EQ(Json::parse(outcome.out).at("images"), 3);
}

TEST(Eval, TheClassesItWasTrainedForAreNone) {
  const test::TemporaryFolder folder;
  DataRequest request;
  request.spec = "shapes";
  const std::vector<std::string> names = open_dataset(request).classes;
  const ModelSpec spec = model_of(static_cast<int>(names.size()));
  test::write_weights(folder.path("named"), spec, names);
  test::write_weights(folder.path("nameless"), spec);
  for (const char* file : {"named", "nameless"}) {
    const Outcome outcome = eval_shapes({"--weights", folder.path(file)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr(kContradiction))) << file;
  }
}

TEST(Eval, FoldersNamedByWordNetContradictNoName) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w"), model_of(2), {"tench", "goldfish"});
  const auto warning = [&](const std::string& set, const char* second) {
    for (const char* name : {"n01440764", second}) {
      const std::string inside = folder.path(set + "/val/" + name);
      fs::create_directories(inside);
      fs::copy(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png", inside + "/a.png");
    }
    const Outcome outcome =
        run_soft({"eval", "--data", "folder:" + folder.path(set), "--weights", folder.path("w")});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(warning("imagenet", "n01443537"), Not(HasSubstr(kContradiction)));
  EXPECT_THAT(warning("mixed", "shark"), HasSubstr("class 1 is 'goldfish'"));
}

TEST(Eval, TheSameClassesInAnotherOrderAreTheWeightsOnes) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w"), model_of(2), {"zebra", "ant"});
  for (const std::string picture : {"ant/a.png", "zebra/a.png", "zebra/b.png"}) {
    fs::create_directories(fs::path(folder.path("set/val/" + picture)).parent_path());
    fs::copy(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png", folder.path("set/val/" + picture));
  }
  const Outcome outcome = run_soft(
      {"eval", "--data", "folder:" + folder.path("set"), "--weights", folder.path("w"), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr(kContradiction)));
  const Json classes = Json::parse(outcome.out).at("per_class");
  EXPECT_EQ(classes[0].at("name"), "zebra");
  EXPECT_EQ(classes[0].at("images"), 2);
  EXPECT_EQ(classes[1].at("images"), 1);
}

TEST(Eval, AFolderWithoutValIsDividedAsItsTrainingWas) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w"), model_of(2), {"cat", "dog"});
  for (const char* name : {"pets/cat/", "pets/dog/"}) {
    fs::create_directories(folder.path(name));
    for (int i = 0; i < 20; ++i) {
      fs::copy(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png",
               folder.path(name + std::to_string(i) + ".png"));
    }
  }
  const auto eval = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "--data", "folder:" + folder.path("pets"), "--weights",
                               folder.path("w"), "--json"});
    return run_soft(more);
  };
  const auto images = [](const Outcome& outcome) { return Json::parse(outcome.out).at("images"); };
  const Outcome usual = eval({}), other = eval({"--val-fraction", "0.25"});
  EXPECT_EQ(images(usual), 4);
  EXPECT_THAT(usual.err, HasSubstr("10 % of each class count as held out"));
  EXPECT_EQ(images(other), 10);
  EXPECT_THAT(other.err, Not(HasSubstr("held out")));
  EXPECT_EQ(images(eval({"--val-fraction", "0.25", "--split", "train"})), 30);
  EXPECT_EQ(eval({"--val-fraction", "1"}).exit_code, 2);
}

TEST(Eval, AClassWithoutPicturesHasNoAccuracy) {
  const Outcome outcome = eval_shapes({"--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json result = Json::parse(outcome.out);
  int empty = 0;
  for (const Json& row : result.at("per_class")) {
    EXPECT_EQ(row.at("images") == 0, row.at("top1").is_null()) << row;
    empty += row.at("images") == 0 ? 1 : 0;
  }
  EXPECT_GE(empty, 7) << "three pictures of ten classes";
  EXPECT_THAT(eval_shapes({"--per-class"}).out, testing::ContainsRegex("[a-z]+ +0 +- +- +-\n"));
}

TEST(Eval, PrecisionRecallAndF1FollowFromTheConfusionMatrix) {
  const Outcome outcome =
      run_soft({"eval", "--data", "shapes", "--limit", "40", "--confusion", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json result = Json::parse(outcome.out);
  const Json& matrix = result.at("confusion");
  ASSERT_EQ(matrix.size(), 10u);
  double total = 0, right = 0;
  for (size_t i = 0; i < 10; ++i) {
    double row = 0, column = 0;
    for (size_t j = 0; j < 10; ++j) {
      row += matrix[i][j].get<double>();
      column += matrix[j][i].get<double>();
    }
    total += row;
    right += matrix[i][i].get<double>();
    const Json& own = result.at("per_class")[i];
    EXPECT_EQ(own.at("images"), row);
    EXPECT_EQ(own.at("answers"), column);
    if (row > 0) {
      EXPECT_NEAR(own.at("recall").get<double>(), 100 * matrix[i][i].get<double>() / row, 1e-9);
    }
    if (column > 0) {
      EXPECT_NEAR(own.at("precision").get<double>(), 100 * matrix[i][i].get<double>() / column,
                  1e-9);
    }
    EXPECT_EQ(own.at("recall"), own.at("top1"));
  }
  EXPECT_EQ(total, 40);
  EXPECT_NEAR(result.at("top1").get<double>(), 100 * right / 40, 1e-9);
}

TEST(Eval, TheMatrixIsWrittenAsATableAFileAndAPicture) {
  const test::TemporaryFolder folder;
  const Outcome outcome =
      eval_shapes({"--confusion", "--csv", folder.path("m.csv"), "--plot", folder.path("m.svg")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("A line per class, a column per answer:"));
  EXPECT_THAT(test::read_file(folder.path("m.csv")), testing::StartsWith("class,circle,"));
  EXPECT_THAT(test::read_file(folder.path("m.svg")), HasSubstr("</svg>"));
  EXPECT_EQ(eval_shapes({"--plot", folder.path("m.gif")}).exit_code, 2);
  EXPECT_EQ(eval_shapes({"--csv", folder.path("no/m.csv")}).exit_code, 1);
}

// A folder with a picture for each of so many classes, and a model of as many.
Outcome eval_classes(int classes, std::vector<std::string> more) {
  const test::TemporaryFolder folder;
  test::write_weights(folder.path("w"), model_of(classes));
  for (int i = 0; i < classes; ++i) {
    const std::string inside = folder.path(fmt::format("set/val/a class called {}", i));
    fs::create_directories(inside);
    fs::copy(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png", inside + "/a.png");
  }
  more.insert(more.begin(),
              {"eval", "--data", "folder:" + folder.path("set"), "--weights", folder.path("w")});
  return run_soft(more);
}

TEST(Eval, TopFiveIsForMoreThanFiveClassesAndJsonAlwaysHasIt) {
  EXPECT_THAT(eval_classes(5, {}).out, Not(HasSubstr("top-5")));
  EXPECT_THAT(eval_classes(6, {}).out, HasSubstr("top-5"));
  EXPECT_EQ(Json::parse(eval_classes(5, {"--json"}).out).at("top5"), 100);
}

TEST(Eval, EveryTableFitsInto80Columns) {
  for (const int classes : {3, 10, 30}) {
    const Outcome outcome = eval_classes(classes, {"--confusion", "--per-class"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_EQ(outcome.out.find("taken for") != std::string::npos, classes == 30);
  }
}

TEST(Eval, TheSplitAndTheSizeCanBeChosen) {
  const Outcome train = eval_shapes({"--split", "train", "--predictions", "/dev/stdout"});
  ASSERT_EQ(train.exit_code, 0) << train.err;
  EXPECT_THAT(train.out, HasSubstr("shapes/train/"));
  EXPECT_THAT(eval_shapes({"--predictions", "/dev/stdout"}).out, HasSubstr("shapes/val/"));
  EXPECT_EQ(eval_shapes({"--split", "tset"}).exit_code, 2);
  const Json own = Json::parse(eval_shapes({"--json"}).out);
  const Json larger = Json::parse(eval_shapes({"--json", "--size", "64"}).out);
  EXPECT_NE(own.at("loss"), larger.at("loss"));
  EXPECT_EQ(eval_shapes({"--size", "31"}).exit_code, 2);
}

// AddressSanitizer's shadow takes more addresses than any limit on them would leave.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* kLittleMemory = "export ASAN_OPTIONS=hard_rss_limit_mb=1500; ";
#else
constexpr const char* kLittleMemory = "ulimit -v 1500000; ";
#endif

// 3 MB that unpack to 3 GB, in a process that may have 1.5 GB.
TEST(Eval, ASmallFileThatUnpacksToGigabytesIsRefusedBeforeItDoes) {
  const test::TemporaryFolder folder;
  const std::string header = test::big_endian(0x803) + test::big_endian(50'000) +
                             test::big_endian(256) + test::big_endian(256);
  test::write_file(folder.path("images"), test::gzip(header));
  test::write_file(folder.path("t10k-labels-idx1-ubyte"), test::idx_labels({0, 1, 2}));
  const test::Outcome outcome = test::run_shell(
      "head -c 67108864 /dev/zero | gzip -1 > zeros; "
      "for i in $(seq 49); do cat zeros; done >> images; mv images t10k-images-idx3-ubyte.gz; " +
          std::string(kLittleMemory) + SOFT_BINARY " eval --data idx:.",
      folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("3 labels for 50000 pictures"));
}

TEST(Eval, AFileThatCannotBeWrittenIsNoticedBeforeAnythingRuns) {
  const test::TemporaryFolder folder;
  const Outcome outcome = eval_shapes({"--predictions", folder.path("no/answers.csv")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder"));
  EXPECT_THAT(outcome.err, Not(HasSubstr(kContradiction))) << "the set was not even opened";
}

}  // namespace
}  // namespace soft
