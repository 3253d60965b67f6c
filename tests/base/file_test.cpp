#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <set>

#include "base/error.h"
#include "support/support.h"

namespace soft {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::AllOf;
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

// A writer whose path turns into a folder while it writes: everything can be written, and the
// rename fails.
FileWriter unrenamable(const std::string& path) {
  return {path, [path](std::ostream& out) {
            out << "new";
            make_folder(path);
          }};
}

TEST(WriteAtomically, ARenameThatFailsTakesTheOthersBack) {
  const TemporaryFolder folder;
  const std::string a = folder.path("a"), b = folder.path("b"), c = folder.path("c");
  test::write_file(a, "old");
  EXPECT_THAT(error_of([&] {
                write_atomically({{a, say_new}, {b, say_new}, unrenamable(c), {a, say_new}});
              }),
              AllOf(HasSubstr("cannot write '" + c), HasSubstr("folder")));
  EXPECT_EQ(test::read_file(a), "old");
  EXPECT_FALSE(std::filesystem::exists(b));
  EXPECT_EQ(files_in(folder), 2u);  // a, and the folder c
}

TEST(WriteAtomically, SeveralReplaceTheirContentAndLeaveNothingElse) {
  const TemporaryFolder folder;
  test::write_file(folder.path("a"), "old");
  write_atomically({{folder.path("a"), say_new}, {folder.path("b"), say_new}});
  EXPECT_EQ(test::read_file(folder.path("a")), "new");
  EXPECT_EQ(test::read_file(folder.path("b")), "new");
  EXPECT_EQ(files_in(folder), 2u);
}

TEST(WriteAtomically, NobodyCanGuessItsTemporaryNameOrPutALinkThere) {
  const TemporaryFolder folder;
  test::write_file(folder.path("victim"), "precious");
  std::filesystem::create_symlink("victim", folder.path("x.soft-tmp" + std::to_string(getpid())));
  std::set<std::string> names;
  const auto note_names = [&](std::ostream& out) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (!entry.is_symlink()) names.insert(entry.path().filename().string());
    }
    out << "new";
  };
  write_atomically(folder.path("x"), note_names);
  write_atomically(folder.path("x"), note_names);
  EXPECT_EQ(test::read_file(folder.path("victim")), "precious");
  EXPECT_EQ(test::read_file(folder.path("x")), "new");
  EXPECT_EQ(names.size(), 4u) << "victim, x, and a name of its own for each draft";
}

TEST(WriteAtomically, LeavesThePermissionsToTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = umask(027);
  write_atomically(folder.path("x"), say_new);
  umask(before);
  struct stat info {};
  ASSERT_EQ(stat(folder.path("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(WriteAtomically, TakesTheLongestNameThatAFileCanHave) {
  const TemporaryFolder folder;
  const std::string path = folder.path(std::string(255, 'x'));
  write_atomically(path, say_new);
  EXPECT_EQ(test::read_file(path), "new");
}

TEST(WriteAtomically, WritesMuchAndLittleInTurnsInOrder) {
  const TemporaryFolder folder;
  std::string expected;
  write_atomically(folder.path("x"), [&](std::ostream& out) {
    for (int i = 0; i < 40; ++i) {
      const std::string piece(i % 7 == 0 ? 100'000 : 3'001, static_cast<char>('a' + i % 26));
      out << piece << i;
      expected += piece + std::to_string(i);
    }
  });
  EXPECT_TRUE(test::read_file(folder.path("x")) == expected);
}

TEST(WriteAtomically, AFullDiskIsSaid) {
  EXPECT_THAT(error_of([] { write_atomically("/dev/full", say_new); }),
              AllOf(HasSubstr("'/dev/full'"), HasSubstr("No space left")));
}

TEST(RemoveLeftovers, RemovesWhatAKilledWriterLeftAndNothingElse) {
  const TemporaryFolder folder;
  test::write_file(folder.path("kept"), "");
  test::write_file(folder.path("my.soft-tmp-notes"), "");
  EXPECT_EXIT(write_atomically(folder.path("x"), [](std::ostream&) { _exit(0); }),
              testing::ExitedWithCode(0), "");
  EXPECT_EQ(files_in(folder), 3u);
  remove_leftovers(folder.path());
  EXPECT_EQ(files_in(folder), 2u);
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

TEST(ReadText, RefusesMoreThanItsLimit) {
  const TemporaryFolder folder;
  test::write_file(folder.path("x"), "12345");
  EXPECT_EQ(read_text(folder.path("x"), 5), "12345");
  EXPECT_THAT(error_of([&] { read_text(folder.path("x"), 4); }), HasSubstr("at most 4"));
}

}  // namespace
}  // namespace soft
