// `soft eval`, run as people run it, on the set that needs no files.
#include <filesystem>

#include "base/json.h"
#include "cli/weights_file.h"
#include "data/dataset.h"
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
  EXPECT_THAT(eval_shapes({"--per-class"}).out, HasSubstr("       - %       0 images  "));
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
