// `--box NAME`: the models in the box, run as people run them.
#include "cli/boxed_file.h"
#include "cli/photo.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

Json answer_of(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return parse_json(outcome.out, "the answer");
}

TEST(BoxFlag, ChoosesTheModelThatAnswers) {
  const test::BoxFolder box;
  box.add_cue();
  box.add_cifar10();
  const Json cue = answer_of({"classify", "--box", "cue", "--json", kCat});
  ASSERT_EQ(cue[0]["top"].size(), 5u);
  std::vector<std::string> names;
  for (const Json& guess : cue[0]["top"]) names.push_back(guess["name"]);
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("disc", "square", "triangle", "cross", "diamond"));
  const Json plain = answer_of({"classify", "--json", kCat});
  EXPECT_EQ(answer_of({"classify", "--box", "cifar10", "--json", kCat}), plain);
  EXPECT_THAT(plain[0]["top"][0]["name"].get<std::string>(), HasSubstr("class "));
  const Json maps = answer_of({"attend", "--box", "cue", "--query", "9,9", "--json", kCat});
  EXPECT_EQ(maps["grid"], (Json{8, 8}));
  EXPECT_EQ(
      answer_of({"eval", "--box", "cue", "--data", "cue", "--limit", "20", "--json"})["images"],
      20);
}

TEST(BoxFlag, NamesTheBoxesThatThereAre) {
  const test::BoxFolder box;
  const Outcome none = run_soft({"classify", kCat});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("'cifar10'"), HasSubstr("nor are those of any other")));
  box.add_cifar10();
  const std::vector<std::vector<std::string>> commands{{"classify", kCat},
                                                       {"embed", kCat, "--out", "/dev/null"},
                                                       {"attend", kCat, "--query", "1,1", "--json"},
                                                       {"eval", "--data", "cue"},
                                                       {"serve"}};
  for (std::vector<std::string> arguments : commands) {
    arguments.insert(arguments.end(), {"--box", "cue"});
    const Outcome absent = run_soft(arguments);
    EXPECT_EQ(absent.exit_code, 1) << arguments.front();
    EXPECT_THAT(absent.err,
                AllOf(HasSubstr("'soft-cue.safetensors'"), HasSubstr("those there are: cifar10")))
        << arguments.front();
  }
}

TEST(BoxFlag, RefusesANameThatIsNoneAndTwoModels) {
  const Outcome unknown = run_soft({"classify", "--box", "cuee", kCat});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("did you mean 'cue'?"), HasSubstr("cifar10")));
  const Outcome two = run_soft({"classify", "--box", "cue", "--weights", "x", kCat});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("give --weights or --box"));
}

}  // namespace
}  // namespace soft
