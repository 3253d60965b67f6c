// The front door itself: help, version, mistakes in the arguments.
#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Every mistake in the arguments is answered the same way: one line on stderr, exit 2.
void expect_usage_error(const std::vector<std::string>& arguments, const std::string& part) {
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, 2) << part;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("soft: "));
  EXPECT_THAT(outcome.err, HasSubstr(part));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(FrontDoor, VersionIsOneLine) {
  const Outcome outcome = run_soft({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("soft [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(FrontDoor, HelpListsTheCommandsOnStdout) {
  const Outcome outcome = run_soft({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* command : {"models", "info", "doctor", "forward", "convert", "embed", "bench"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + command));
  }
}

TEST(FrontDoor, WithoutACommandTheHelpGoesToStderr) {
  const Outcome outcome = run_soft({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, run_soft({"--help"}).out);
}

TEST(FrontDoor, AMistypedCommandIsAnsweredWithTheNearestOne) {
  expect_usage_error({"modles"}, "unknown command 'modles' (did you mean 'models'?)");
  expect_usage_error({"zzzzzzzz"}, "unknown command 'zzzzzzzz'; see");
}

TEST(FrontDoor, AMistypedFlagIsAnsweredWithTheNearestOne) {
  expect_usage_error({"models", "--jsn"}, "unknown flag '--jsn' (did you mean '--json'?)");
  expect_usage_error({"info", "soft-tiny", "--sise=3"}, "did you mean '--size'");
  expect_usage_error({"--jsn"}, "unknown flag '--jsn'");
}

TEST(FrontDoor, AMistypedFlagIsNamedBeforeTheOneItLeavesMissing) {
  expect_usage_error({"forward", "--inptu", "x.npy", "--output", "y.npy"},
                     "did you mean '--input'");
}

TEST(FrontDoor, MissingAndSurplusArgumentsAreNamed) {
  expect_usage_error({"info"}, "model is required");
  expect_usage_error({"models", "a", "b"}, "one argument too many: 'b'");
  expect_usage_error({"--threads", "2", "models"}, "'--threads' belongs behind");
}

TEST(FrontDoor, EveryCommandChecksItsThreads) {
  for (const char* command : {"models", "info", "doctor", "forward", "convert"}) {
    for (const char* threads : {"0", "-1", "two", "1.5", "99999999999"}) {
      expect_usage_error({command, "--threads", threads}, "--threads");
    }
  }
}

TEST(FrontDoor, WhatIsNotANumberIsRefused) {
  for (const char* wait : {"nan", "inf", "-nan", "-1", "1001", "1ms"}) {
    expect_usage_error({"serve", "--weights", "/nowhere", "--max-wait-ms", wait}, "--max-wait-ms");
  }
}

// Few results fail when the buffer is flushed at the end, many as soon as it is full.
TEST(FrontDoor, ResultsThatCannotBeWrittenAreAFailure) {
  const std::string many = "attend --json --query 9,9 --stage 1 --size 64 '" SOFT_SOURCE_DIR
                           "/data/photos/cat_chelsea.png'";
  for (const std::string& command :
       {std::string("models"), many, std::string("--help"), std::string("--version"),
        std::string("eval --help"), std::string("info soft-tiny --json"),
        std::string("data list")}) {
    const Outcome outcome =
        test::run_shell(std::string(SOFT_BINARY) + " " + command + " > /dev/full");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("soft: cannot write to stdout: ")) << command;
  }
}

// What OpenMP's runtime says of its settings when it is loaded, which it is before main.
std::string openmp_settings(const std::string& environment, const std::string& command) {
  return test::run_shell("env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=verbose " +
                         environment + " " SOFT_BINARY " " + command + " --help")
      .err;
}

TEST(FrontDoor, ThreadsOfLongCommandsWaitBrieflyUnlessToldOtherwise) {
  const std::string brief = "GOMP_SPINCOUNT = '3000'";
  EXPECT_THAT(openmp_settings("", "train"), HasSubstr(brief));
  EXPECT_THAT(openmp_settings("", "eval"), HasSubstr(brief));
  EXPECT_THAT(openmp_settings("", "classify"), Not(HasSubstr(brief)));  // is over soon
  EXPECT_THAT(openmp_settings("GOMP_SPINCOUNT=77", "train"), HasSubstr("GOMP_SPINCOUNT = '77'"));
  EXPECT_THAT(openmp_settings("OMP_WAIT_POLICY=passive", "train"), Not(HasSubstr(brief)));
}

}  // namespace
}  // namespace soft
