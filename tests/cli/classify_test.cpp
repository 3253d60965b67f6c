// `soft classify` as it is after the build: with the model in the box.
#include <filesystem>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::run_soft;

std::string photo(const std::string& name) {
  return std::string(SOFT_SOURCE_DIR) + "/data/photos/" + name;
}

TEST(Classify, AnswersWithTheModelInTheBox) {
  const test::Outcome outcome = run_soft({"classify", "--json", photo("cat_chelsea.png")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("top").size(), 5u);
  EXPECT_EQ(rows[0].at("top")[0].at("name"), "cat");
}

TEST(Classify, TheModelInTheBoxIsSmall) {
  const auto bytes = std::filesystem::file_size(std::string(SOFT_SOURCE_DIR) +
                                                "/models/soft-nano-cifar10.safetensors");
  EXPECT_LE(bytes, 4'000'000u);
}

TEST(Classify, ReadsAPictureFromStandardInput) {
  const test::Outcome file = run_soft({"classify", "--json", photo("rocket.jpg")});
  const test::Outcome piped =
      run_soft({"classify", "--json", "-"}, test::read_file(photo("rocket.jpg")));
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(Json::parse(piped.out)[0].at("top"), Json::parse(file.out)[0].at("top"));
}

TEST(Classify, AccountsForEveryFileOfAFolderAndFailsWhenOneIsNoPicture) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("deep"));
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("deep/a.jpg"));
  test::write_file(folder.path("notes.txt"), "no picture");
  test::write_file(folder.path("empty.png"), "");
  const test::Outcome outcome = run_soft({"classify", "--json", folder.path()});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  int answered = 0;
  for (const Json& row : rows) {
    EXPECT_NE(row.contains("top"), row.contains("error")) << row;
    answered += row.contains("top") ? 1 : 0;
  }
  EXPECT_EQ(answered, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("2 of 3 pictures"));
}

TEST(Classify, WhatCannotBeAPictureDoesNotKeepTheOthersFromBeingRead) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("empty"));
  std::filesystem::create_symlink("loop", folder.path("loop"));
  const std::string endless(300, 'x');
  const test::Outcome outcome = run_soft({"classify", "--json", folder.path("empty"),
                                          folder.path("loop"), endless, photo("cat_chelsea.png")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("3 of 4 pictures"));
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 4u);
  const auto complaint = [&](int row) { return rows[row].value("error", ""); };
  EXPECT_EQ(rows[0].at("file"), folder.path("empty"));
  EXPECT_THAT(complaint(0), testing::HasSubstr("there is no file in"));
  EXPECT_THAT(complaint(1), testing::HasSubstr("symbolic links"));
  EXPECT_THAT(complaint(2), testing::HasSubstr("File name too long"));
  EXPECT_TRUE(rows[3].contains("top")) << rows[3];
}

TEST(Classify, ALinkToItselfInAFolderIsOneUnreadablePicture) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("a.png"));
  std::filesystem::create_symlink("b.png", folder.path("b.png"));
  const test::Outcome outcome = run_soft({"classify", "--json", folder.path()});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0].contains("top")) << rows[0];
  EXPECT_EQ(rows[1].at("file"), folder.path("b.png"));
  EXPECT_TRUE(rows[1].contains("error")) << rows[1];
}

}  // namespace
}  // namespace soft
