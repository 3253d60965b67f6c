#include <filesystem>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::run_soft;
using testing::HasSubstr;

TEST(LraCommand, GeneratesTheSameListOpsForTheSameSeed) {
  const test::TemporaryFolder folder;
  const auto generate = [&](const char* name, const char* seed) {
    const test::Outcome outcome =
        run_soft({"lra", "generate", "listops", "--out", folder.path(name), "--seed", seed,
                  "--train", "5", "--val", "2", "--test", "2"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return test::read_file(folder.path(std::string(name) + "/basic_train.tsv"));
  };
  const std::string first = generate("a", "1");
  EXPECT_EQ(first, generate("b", "1"));
  EXPECT_NE(first, generate("c", "2"));
}

TEST(LraCommand, RefusesWhatCannotBeGenerated) {
  const test::TemporaryFolder folder;
  const test::Outcome text = run_soft({"lra", "generate", "text", "--out", folder.path("a")});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_THAT(text.err, HasSubstr("`soft data list` says where the others are"));
  EXPECT_EQ(
      run_soft({"lra", "generate", "listops", "--train", "0", "--out", folder.path("a")}).exit_code,
      2);
  EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
}

#if SOFT_WITH_TORCH

// Trains on a few texts, evaluates and classifies with the result, and makes the table.
TEST(LraCommand, TrainsOnOwnTextsAndAnswersWithThem) {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 40; ++i) {
    const std::string name = i % 2 == 0 ? "aaa" : "zzz";
    std::filesystem::create_directories(folder.path("texts/" + name));
    test::write_file(folder.path("texts/" + name + "/" + std::to_string(i) + ".txt"),
                     std::string(600 + i, name[0]));
  }
  const std::string data = "text:" + folder.path("texts"), run = folder.path("run");
  const test::Outcome train =
      run_soft({"lra", "train", "text", "--data", data, "--out", run, "--steps", "20", "--batch",
                "8", "--eval-every", "10", "--lr", "0.003", "--json"});
  ASSERT_EQ(train.exit_code, 0) << train.err;
  EXPECT_THAT(train.err, HasSubstr("not as in the protocol: steps 20 instead of 20000"));
  const Json accuracy = Json::parse(train.out).at("test_accuracy");

  const test::Outcome eval = run_soft({"lra", "eval", run, "--json"});
  ASSERT_EQ(eval.exit_code, 0) << eval.err;
  EXPECT_EQ(Json::parse(eval.out).at("accuracy"), accuracy);
  const std::string weights = run + "/best.safetensors";
  const test::Outcome plain = run_soft({"eval", "--weights", weights, "--data", data, "--json"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(Json::parse(plain.out).at("accuracy"), accuracy);

  const auto likely_zzz = [&](char letter) {
    const test::Outcome answer =
        run_soft({"classify", "--weights", weights, "--json", "-"}, std::string(600, letter));
    EXPECT_EQ(answer.exit_code, 0) << answer.err;
    const Json rows = Json::parse(answer.out);
    for (const Json& entry : rows[0].at("top")) {
      if (entry.at("name") == "zzz") return entry.at("p").get<double>();
    }
    return -1.0;
  };
  EXPECT_GT(likely_zzz('z'), likely_zzz('a'));
  const test::Outcome file =
      run_soft({"classify", "--weights", weights, folder.path("texts/aaa/0.txt")});
  EXPECT_THAT(file.out, HasSubstr("aaa"));
  EXPECT_EQ(run_soft({"classify", "--weights", weights, "-"}, "\xff").exit_code, 1);
  EXPECT_EQ(run_soft({"classify", "--weights", weights, "-"}, "").exit_code, 1);

  const test::Outcome table =
      run_soft({"lra", "table", folder.path(), "--plot", folder.path("t.svg")});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("soft          "));
  EXPECT_THAT(table.out, HasSubstr("steps 20 instead of 20000"));
  EXPECT_TRUE(std::filesystem::exists(folder.path("t.svg")));
  EXPECT_EQ(run_soft({"lra", "train", "text", "--data", data, "--out", run}).exit_code, 1);
  EXPECT_EQ(run_soft({"lra", "train", "--resume", run}).exit_code, 0);  // finished: tests again
}

TEST(LraCommand, WrongRequestsAreUsageErrors) {
  const test::TemporaryFolder folder;
  const std::string out = folder.path("run");
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"listop", "--out", out},
                                             {"listops"},
                                             {"listops", "--out", out, "--attention", "sofft"},
                                             {"listops", "--out", out, "--landmarks", "60"},
                                             {"listops", "--out", out, "--steps", "0"},
                                             {"listops", "--out", out, "--lr", "0"},
                                             {"listops", "--resume", out}}) {
    std::vector<std::string> line{"lra", "train"};
    line.insert(line.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_soft(line).exit_code, 2) << testing::PrintToString(flags);
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

#endif

}  // namespace
}  // namespace soft
