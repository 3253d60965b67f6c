#include "data/tar_reader.h"
#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;
using test::tar;
using test::tar_members;
using testing::ElementsAre;
using testing::HasSubstr;

struct Walk {
  std::vector<std::string> names;
  std::vector<std::string> contents;
  std::vector<std::string> complaints;
};

class Tar : public testing::Test {
 protected:
  Walk walk(const std::string& bytes) {
    test::write_file(folder_.path("x.tar"), bytes);
    TarReader reader(folder_.path("x.tar"));
    Walk walk;
    for (TarMember member; reader.next(member);) {
      walk.names.push_back(member.name);
      walk.contents.push_back(reader.read(member));
    }
    walk.complaints = reader.complaints();
    return walk;
  }
  test::TemporaryFolder folder_;
};

// Puts a text into a header and makes its sum right again.
std::string with_field(std::string block, size_t place, std::string_view text) {
  block.replace(place, text.size(), text);
  block.replace(148, 8, "        ");
  int sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<uint8_t>(block[i]);
  block.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

std::string member(char type, const std::string& name, const std::string& content) {
  return with_field(tar_members({{name, content}}), 156, std::string(1, type));
}

TEST_F(Tar, WhatIsWrittenIsRead) {
  const std::string large(1000, 'x');
  const Walk found = walk(tar({{"a/b.jpg", large}, {"a/b.cls", "7"}, {"empty", ""}}));
  EXPECT_THAT(found.names, ElementsAre("a/b.jpg", "a/b.cls", "empty"));
  EXPECT_THAT(found.contents, ElementsAre(large, "7", ""));
  EXPECT_THAT(found.complaints, ElementsAre());
}

TEST_F(Tar, TheSystemsProgramReadsWhatIsWritten) {
  test::write_file(folder_.path("x.tar"), tar({{"a.jpg", std::string(513, 'x')}, {"a.cls", "7"}}));
  const test::Outcome outcome = test::run_shell("tar -tvf x.tar", folder_.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(" 513 1970-01-01 00:00 a.jpg\n"));
}

TEST_F(Tar, EveryFormatOfTheSystemsProgramIsRead) {
  const std::string deep = std::string(90, 'd') + "/" + std::string(90, 'e');
  const std::string longer(200, 'n');
  std::filesystem::create_directories(folder_.path("in/" + deep));
  test::write_file(folder_.path("in/" + deep + "/a.jpg"), "first");
  test::write_file(folder_.path("in/" + longer + ".jpg"), "second");
  for (const char* format : {"gnu", "pax", "posix"}) {
    const test::Outcome made = test::run_shell(
        fmt::format("tar --format={} --sort=name -cf x.tar -C in .", format), folder_.path());
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const Walk found = walk(test::read_file(folder_.path("x.tar")));
    EXPECT_THAT(found.names, ElementsAre("./" + deep + "/a.jpg", "./" + longer + ".jpg")) << format;
    EXPECT_THAT(found.contents, ElementsAre("first", "second"));
    EXPECT_THAT(found.complaints, ElementsAre());
  }
}

TEST_F(Tar, LargeSizesMayBeBytesInsteadOfDigits) {
  std::string block = tar_members({{"a.jpg", "12345"}});
  block = with_field(block, 124, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x05", 12));
  EXPECT_THAT(walk(block).contents, ElementsAre("12345"));
}

TEST_F(Tar, ASizeInAnExtendedHeaderCounts) {
  const std::string content(600, 'x');
  const std::string next = with_field(tar_members({{"a", content}}), 124, "00000000000");
  const Walk found = walk(member('x', "pax", "12 size=600\n") + next + tar({{"b", "y"}}));
  EXPECT_THAT(found.contents, ElementsAre(content, "y"));
}

TEST_F(Tar, LinksAndFoldersAreNoFilesWhateverSizeTheyClaim) {
  const std::string link = with_field(member('2', "link", ""), 124, "00000001000");
  const Walk found = walk(member('5', "folder", "") + link + tar({{"file", "x"}}));
  EXPECT_THAT(found.names, ElementsAre("file"));
  EXPECT_THAT(found.complaints, ElementsAre());
}

TEST_F(Tar, ATruncatedArchiveGivesWhatIsWhole) {
  const std::string whole =
      tar_members({{"a", std::string(600, 'x')}, {"b", std::string(600, 'y')}});
  const Walk in_content = walk(whole.substr(0, whole.size() - 500));
  EXPECT_THAT(in_content.names, ElementsAre("a"));
  EXPECT_THAT(in_content.complaints,
              ElementsAre("truncated: 'b' is 600 bytes long, 524 are there"));
  const Walk in_header = walk(whole.substr(0, 3 * 512 + 100));
  EXPECT_THAT(in_header.names, ElementsAre("a"));
  EXPECT_THAT(in_header.complaints,
              ElementsAre(HasSubstr("in the middle of a header, at byte 1636")));
}

TEST_F(Tar, AnEndWithoutEmptyBlocksIsAnEnd) {
  const Walk found = walk(tar_members({{"a", "x"}}));
  EXPECT_THAT(found.names, ElementsAre("a"));
  EXPECT_THAT(found.complaints, ElementsAre());
}

TEST_F(Tar, ABrokenHeaderCostsItsMemberAlone) {
  std::string bytes = tar({{"a", "x"}, {"b", std::string(3000, 'y')}, {"c", "z"}});
  bytes[1024 + 3] ^= 1;  // in b's name
  const Walk found = walk(bytes);
  EXPECT_THAT(found.names, ElementsAre("a", "c"));
  EXPECT_THAT(
      found.complaints,
      ElementsAre("no tar header at byte 1024; the 3584 bytes up to the next one are skipped"));
}

TEST_F(Tar, WhatIsNoArchiveHasNoMembers) {
  EXPECT_THAT(walk(std::string(5000, 'q')).complaints,
              ElementsAre("no tar header at byte 0; the remaining 5000 bytes are skipped"));
  EXPECT_THAT(walk("").names, ElementsAre());
  EXPECT_THAT(error_of([&] { walk(test::gzip(tar({{"a", "x"}}))); }), HasSubstr("is compressed"));
  EXPECT_THAT(error_of([&] { TarReader(folder_.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { TarReader(folder_.path("none")); }), HasSubstr("cannot open"));
}

}  // namespace
}  // namespace soft
