// `soft classify` as it is after the build: with the model in the box.
#include <filesystem>

#include "base/json.h"
#include "support/support.h"

namespace soft {
namespace {

using test::photo;
using test::run_soft;

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

TEST(Classify, StrayFilesOfAFolderAreSkippedWithOneLine) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("a.png"));
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("no_ending"));
  test::write_file(folder.path("LICENCES.md"), "text");
  test::write_file(folder.path("Thumbs.db"), "\xd0\xcf\x11\xe0");
  const test::Outcome outcome = run_soft({"classify", "--json", folder.path()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).size(), 2u);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, testing::HasSubstr("2 files skipped that are no pictures"));
}

TEST(Classify, AFolderOfStrayFilesAloneIsAnError) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("LICENCES.md"), "text");
  const test::Outcome outcome = run_soft({"classify", folder.path()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, testing::HasSubstr("there is no picture in"));
}

TEST(Classify, TheSizeIsTheModelsUnlessAnotherIsNamed) {
  const auto answer = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"classify", "--json", photo("cat_chelsea.png")});
    const test::Outcome outcome = run_soft(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out)[0].at("top");
  };
  EXPECT_EQ(answer({"--size", "32"}), answer({}));
  EXPECT_NE(answer({"--size", "64"}), answer({}));
  EXPECT_EQ(run_soft({"classify", "--size", "16", photo("cat_chelsea.png")}).exit_code, 2);
}

// Names are printed as they are, but for what would command the terminal.
TEST(Classify, EscapeBytesOfANameReachNeitherTableNorErrorAndJsonKeepsThem) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("\x1b[31m.png"));
  test::write_file(folder.path("b\x1b]0;x\x07.jpg"), "no picture");
  const test::Outcome people = run_soft({"classify", folder.path()});
  EXPECT_EQ(people.exit_code, 1);
  EXPECT_EQ((people.out + people.err).find('\x1b'), std::string::npos);
  EXPECT_THAT(people.out, testing::HasSubstr("?[31m.png"));
  EXPECT_THAT(people.err, testing::HasSubstr("b?]0;x?.jpg"));
  const test::Outcome json = run_soft({"classify", "--json", folder.path()});
  EXPECT_EQ(json.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(json.out)[0].at("file"), folder.path("\x1b[31m.png"));
}

TEST(Classify, AccountsForEveryFileOfAFolderAndFailsWhenOneIsNoPicture) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("deep"));
  std::filesystem::copy_file(photo("cat_chelsea.png"), folder.path("deep/a.jpg"));
  test::write_file(folder.path("notes.txt"), "no picture");
  test::write_file(folder.path("empty.png"), "");
  const test::Outcome outcome = run_soft({"classify", "--json", "--strict", folder.path()});
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
  EXPECT_THAT(complaint(0), testing::HasSubstr("there is no picture in"));
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
