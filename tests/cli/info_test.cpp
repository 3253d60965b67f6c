#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using test::TemporaryFolder;
using testing::HasSubstr;

Json info(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "info");
  arguments.emplace_back("--json");
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

void expect_refusal(std::vector<std::string> arguments, int code, const std::string& part) {
  arguments.insert(arguments.begin(), "info");
  const Outcome outcome = run_soft(arguments);
  EXPECT_EQ(outcome.exit_code, code) << part;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(part));
}

TEST(Info, JsonHasTheKeysOfTheContractAsIntegers) {
  const Json tiny = info({"soft-tiny"});
  EXPECT_EQ(tiny.at("name"), "soft-tiny");
  EXPECT_EQ(tiny.at("params"), 13'069'056);
  EXPECT_EQ(tiny.at("macs"), 1'927'618'048);
  EXPECT_TRUE(tiny.at("macs_with_inverse").is_number_integer());
  EXPECT_GT(tiny.at("macs_with_inverse"), tiny.at("macs"));
  ASSERT_EQ(tiny.at("stages").size(), 4u);
  EXPECT_EQ(tiny.at("stages")[0].at("grid"), Json({56, 56}));
  EXPECT_EQ(tiny.at("stages")[2].at("landmarks"), 49);
  EXPECT_EQ(tiny.at("stages")[3].at("attention"), "softmax");
}

TEST(Info, TheStagesAndTheHeadAddUp) {
  const Json tiny = info({"soft-tiny"});
  int64_t params = tiny.at("head").at("params");
  int64_t macs = tiny.at("head").at("macs");
  for (const Json& stage : tiny.at("stages")) {
    params += stage.at("params").get<int64_t>();
    macs += stage.at("macs").get<int64_t>();
  }
  EXPECT_EQ(params, tiny.at("params"));
  EXPECT_EQ(macs, tiny.at("macs"));
}

TEST(Info, ListsEverySettingWithItsMeaning) {
  const Outcome outcome = run_soft({"info", "soft-tiny", "--settings", "--set", "landmarks=36"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const FieldHelp& help : field_help()) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string(help.key) + " ")) << help.key;
  }
  EXPECT_THAT(outcome.out, testing::ContainsRegex("landmarks +36 +landmarks at any size"));
  EXPECT_THAT(outcome.out, HasSubstr("avg, random"));
}

TEST(Info, AnUnknownSettingIsAnsweredWithTheNearOnesAndTheCommandThatListsAll) {
  expect_refusal({"soft-tiny", "--set", "kernels=3"}, 2, "did you mean 'value_kernels'?");
  expect_refusal({"soft-tiny", "--set", "dim=3"}, 2, "did you mean 'dims'");
  expect_refusal({"soft-tiny", "--set", "ema=off"}, 2, "`soft info soft-tiny --settings` lists");
}

TEST(Info, TheTableIsForPeople) {
  const Outcome outcome = run_soft({"info", "soft-tiny"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* part : {"56x56", "13069056", "1927.6", "2115.9", "sampler=conv", "megabytes"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Info, TheSizeIsTheModelsOwnUnlessGiven) {
  EXPECT_EQ(info({"soft-nano"}).at("size"), Json({32, 32}));
  EXPECT_EQ(info({"soft-nano", "--size", "64"}).at("size"), Json({64, 64}));
  EXPECT_EQ(info({"soft-tiny", "--size", "96x160"}).at("stages")[0].at("grid"), Json({24, 40}));
}

TEST(Info, AttentionIsAppliedBeforeTheSettings) {
  const Json changed = info({"--set", "inverse=exact", "--attention", "soft-norm", "soft-tiny"});
  EXPECT_EQ(changed.at("settings").at("attention"), "soft-norm");
  EXPECT_EQ(changed.at("settings").at("inverse"), "exact");
}

TEST(Info, SettingsChangeTheCount) {
  EXPECT_EQ(info({"soft-tiny", "--set", "sampler=avg"}).at("params"), 12'958'080);
  EXPECT_EQ(info({"soft-tiny", "--set", "sampler=avg", "--set", "classes=10"}).at("params"),
            12'958'080 - 990 * 513);
}

TEST(Info, AWeightsFileIsDescribedByItsOwnSpec) {
  const TemporaryFolder folder;
  ModelSpec spec = find_model("soft-nano");
  set_field(spec, "classes", "7");
  test::write_weights(folder.path("x.safetensors"), spec);
  const Json answer = info({folder.path("x.safetensors")});
  EXPECT_EQ(answer.at("name"), "soft-nano");
  EXPECT_EQ(answer.at("settings").at("classes"), "7");
  EXPECT_EQ(answer.at("file"), folder.path("x.safetensors"));
}

TEST(Info, AFileNameThatIsNotUtf8DoesNotBreakTheJson) {
  const TemporaryFolder folder;
  test::write_weights(folder.path("\xff.safetensors"), find_model("soft-nano"));
  EXPECT_EQ(info({folder.path("\xff.safetensors")}).at("params"), 1'290'759);
}

TEST(Info, UnknownNamesAreUsageErrorsWithTheNearestOne) {
  expect_refusal({"soft-tinny"}, 2, "did you mean 'soft-tiny'");
  expect_refusal({"soft-tiny", "--attention", "softmx"}, 2, "did you mean 'softmax'");
  expect_refusal({"soft-tiny", "--set", "sampeler=avg"}, 2, "did you mean 'sampler'");
  expect_refusal({"soft-tiny", "--set", "sampler=agv"}, 2, "did you mean 'avg'");
  expect_refusal({"soft-tiny", "--set", "sampler"}, 2, "key=value");
}

TEST(Info, ImpossibleRequestsAreUsageErrors) {
  expect_refusal({"soft-tiny", "--set", "landmarks=50"}, 2, "needs g*g");
  for (const char* size : {"31", "0", "-5", "x", "64x", "x64", "64x64x64", "224.5", "99999", ""}) {
    expect_refusal({"soft-tiny", "--size", size}, 2, "--size");
  }
  expect_refusal({"soft-tiny", "--size", "64", "--set", "landmarks=49"}, 2, "fewer than landmarks");
}

TEST(Info, AModelOfTheTableHasNoDictionariesToChooseFrom) {
  expect_refusal({"soft-tiny", "--weights-key", "state_dict"}, 2, "--weights-key state_dict");
}

TEST(Info, ANameThatNoFileCanHaveIsNoModelEither) {
  expect_refusal({std::string(300, 'x')}, 2, "unknown model");
}

TEST(Info, WhatCannotBeCountedIsRefused) {
  expect_refusal(
      {"soft-tiny", "--set", "dims=16384,16384,16384,16384", "--set", "heads=1,1,1,1", "--set",
       "depths=1000,1000,1000,1000", "--attention", "softmax", "--size", "8192"},
      2, "more than can be counted");
}

TEST(Info, UnreadableFilesAreFailures) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x.safetensors"), "nonsense");
  expect_refusal({folder.path("none.safetensors")}, 1, "none.safetensors");
  expect_refusal({folder.path("x.safetensors")}, 1, "x.safetensors");
  expect_refusal({folder.path()}, 1, folder.path());
}

// Linking LibTorch costs most of a second; commands that do not need it must not load it.
TEST(Info, LoadsNoTorch) {
  for (const char* command : {"models", "info soft-tiny"}) {
    const Outcome outcome =
        test::run_shell("LD_DEBUG=files " + std::string(SOFT_BINARY) + " " + command);
    EXPECT_THAT(outcome.err, HasSubstr("libsoft_inside.so"));  // the loader does speak
    EXPECT_THAT(outcome.err, testing::Not(testing::ContainsRegex("lib(soft_)?torch")));
  }
}

}  // namespace
}  // namespace soft
