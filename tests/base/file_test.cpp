#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::HasSubstr;

size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

void say_new(std::ostream& out) { out << "new"; }

TEST(WriteAtomically, ReplacesTheContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "old");
  write_atomically(folder.path("x"), say_new);
  EXPECT_EQ(test::read_file(folder.path("x")), "new");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteAtomically, AFailureHalfwayKeepsTheOldContent) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "old");
  EXPECT_THAT(error_of([&] {
                write_atomically(folder.path("x"), [](std::ostream& out) {
                  out << "half";
                  fail("no more");
                });
              }),
              "no more");
  EXPECT_EQ(test::read_file(folder.path("x")), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteAtomically, AStreamThatFailsKeepsTheOldContent) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "old");
  const auto full = [](std::ostream& out) { out.setstate(std::ios::badbit); };
  EXPECT_THAT(error_of([&] { write_atomically(folder.path("x"), full); }),
              HasSubstr("cannot write"));
  EXPECT_EQ(test::read_file(folder.path("x")), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteAtomically, OneFailureAmongSeveralChangesNone) {
  const TemporaryFolder folder;
  test::write_file(folder.path("a"), "old");
  EXPECT_THAT(error_of([&] {
                write_atomically({{folder.path("a"), say_new}, {folder.path("no/b"), say_new}});
              }),
              HasSubstr("No such file"));
  EXPECT_EQ(test::read_file(folder.path("a")), "old");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(WriteAtomically, ALinkStaysAndLeadsToTheNewContent) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "old");
  std::filesystem::create_symlink("x", folder.path("link"));
  write_atomically(folder.path("link"), say_new);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(test::read_file(folder.path("x")), "new");
  EXPECT_EQ(files_in(folder), 2u);
}

TEST(WriteAtomically, APipeIsWrittenToAndStays) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_atomically(pipe, say_new);
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 3);
  EXPECT_STREQ(text, "new");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  close(reader);
}

TEST(WriteAtomically, AFolderIsNotReplaced) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { write_atomically(folder.path(), say_new); }), HasSubstr("folder"));
}

TEST(WriteAtomically, ANameThatNoFileCanHaveIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { write_atomically(folder.path(std::string(300, 'x')), say_new); }),
              HasSubstr("File name too long"));
}

TEST(MappedFile, ShowsTheBytesAndSurvivesAMove) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "hello");
  MappedFile first(folder.path("x"));
  const MappedFile second(std::move(first));
  second.release_pages();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(second.data()), second.size()), "hello");
  EXPECT_EQ(second.path(), folder.path("x"));
}

TEST(MappedFile, AnEmptyFileIsEmptyNotAnError) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "");
  EXPECT_EQ(MappedFile(folder.path("x")).size(), 0u);
}

TEST(MappedFile, MissingFilesFoldersAndPipesAreRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { MappedFile(folder.path("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(error_of([&] { MappedFile(folder.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { MappedFile(folder.path("pipe")); }), HasSubstr("not a regular file"));
}

TEST(ReadText, RefusesMoreThanItsLimit) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "12345");
  EXPECT_EQ(read_text(folder.path("x"), 5), "12345");
  EXPECT_THAT(error_of([&] { read_text(folder.path("x"), 4); }), HasSubstr("at most 4"));
}

}  // namespace
}  // namespace soft
