#include <filesystem>

#include "base/file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(ReadBytes, ReadsAWholeFileAndAnEmptyOne) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), std::string("a\0b", 3));
  test::write_file(folder.path("empty"), "");
  EXPECT_THAT(read_bytes(folder.path("x")), testing::ElementsAre('a', 0, 'b'));
  EXPECT_TRUE(read_bytes(folder.path("empty")).empty());
}

TEST(ReadBytes, MissingFilesFoldersPipesAndLargeFilesAreRefused) {
  const TemporaryFolder folder;
  test::run_shell("mkfifo pipe", folder.path());
  test::write_file(folder.path("x"), "four");
  EXPECT_THAT(error_of([&] { read_bytes(folder.path("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { read_bytes(folder.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { read_bytes(folder.path("pipe")); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { read_bytes(folder.path("x"), 3); }), HasSubstr("at most 3 are read"));
}

// A map of it would end the program with SIGBUS.
TEST(ReadBytes, WhatWasReadSurvivesTheFile) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), std::string(100'000, 'x'));
  const std::vector<uint8_t> bytes = read_bytes(folder.path("x"));
  std::filesystem::resize_file(folder.path("x"), 0);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 'x'), 100'000);
}

}  // namespace
}  // namespace soft
