#include "data/sequence.h"

#include <map>
#include <numeric>
#include <set>

#include "data/bytes_literal.h"
#include "data/listops.h"
#include "data/sequence_loader.h"
#include "data/sequence_source.h"
#include "data/sequence_toy.h"
#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;
using test::open_all;
using test::TemporaryFolder;
using test::text_of;
using test::write_file;
using test::write_text;
using testing::ElementsAre;
using testing::HasSubstr;

// ListOps files.

TEST(ListOpsFile, BecomesTokensAndLabelsWithEitherLineEnd) {
  const TemporaryFolder folder;
  for (const char* end : {"\n", "\r\n"}) {
    const std::string file = folder.path("basic_train.tsv");
    write_file(file, std::string("Source\tTarget") + end + "( ( ( [MIN 4 ) 3 ) ] )\t3" + end +
                         "[SM 9 9 ]\t8" + end);
    const SequenceSet set = open_listops(file, 2000);
    EXPECT_THAT(set.labels, ElementsAre(3, 8));
    EXPECT_THAT(set.load(0, 0), ElementsAre(11, 5, 4, 15));
    EXPECT_THAT(set.load(1, 0), ElementsAre(14, 10, 10, 15));
    EXPECT_EQ(set.class_count(), 10);
    EXPECT_EQ(set.vocabulary, 32);
    EXPECT_EQ(set.describe(1), file + ":3");
  }
}

TEST(ListOpsFile, WhatIsWrongIsNamedByFileAndLine) {
  const TemporaryFolder folder;
  const std::string file = folder.path("basic_train.tsv");
  const auto error = [&](const std::string& rest) {
    write_file(file, rest);
    return error_of([&] { open_listops(file, 2000); });
  };
  const std::string good = "Source\tTarget\n[SM 9 9 ]\t8\n";
  EXPECT_THAT(error(good + "[SM 9 9"),
              HasSubstr(file + "', line 3: 1 of its lists are not closed"));
  EXPECT_THAT(error(good + "[SM 9 9 ]"), HasSubstr("line 3: no target"));
  EXPECT_THAT(error(good + "[SM 9 9 ]\t8\t1\n"), HasSubstr("line 3: the line has too many fields"));
  EXPECT_THAT(error(good + "[SM 9 9 ]\t10\n"), HasSubstr("line 3: label '10' is no digit"));
  EXPECT_THAT(error(good + "[SM 9 9 ]\t7\n"),
              HasSubstr("line 3: the label is 7, the expression's value 8"));
  EXPECT_THAT(error(good + "[SM 9 99 ]\t7\n"), HasSubstr("line 3: '99' is no token of ListOps"));
  EXPECT_THAT(error(good + "\t7\n"), HasSubstr("line 3: the expression is empty"));
  EXPECT_THAT(error(good + "[SM \xff ]\t7\n"), HasSubstr("line 3: not UTF-8"));
  EXPECT_THAT(error("a\tb\n1\t2\n"), HasSubstr("line 1: 'a' and 'b' instead of the header"));
  EXPECT_THAT(error("Source\tTarget\n"), HasSubstr("a header and nothing else"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
}

TEST(ListOpsFile, GeneratedFilesReadBackWhole) {
  const TemporaryFolder folder;
  write_listops({folder.path(), 11, 30, 6, 7});
  const SequenceSet set = open_all("listops:" + folder.path(), SequencePart::kTrain, 2000);
  ASSERT_EQ(set.size(), 30);
  ListOpsTrees trees(11);
  for (int64_t i = 0; i < 30; ++i) {
    const ListOpsTree& tree = trees.next();
    EXPECT_EQ(set.labels[i], tree.value);
    EXPECT_EQ(set.load(i, 0), std::vector<int32_t>(tree.tokens.begin(), tree.tokens.end()));
  }
  EXPECT_EQ(open_all("listops:" + folder.path(), SequencePart::kDev).size(), 6);
  EXPECT_EQ(open_all("listops:" + folder.path(), SequencePart::kTest).size(), 7);
}

TEST(ListOpsFile, LongExpressionsAreCutAndCounted) {
  const TemporaryFolder folder;
  write_listops({folder.path(), 11, 30, 6, 7});
  const SequenceSet whole = open_all("listops:" + folder.path());
  int64_t longer = 0;
  for (int64_t i = 0; i < 30; ++i) longer += whole.load(i, 0).size() > 800 ? 1 : 0;
  testing::internal::CaptureStderr();
  const SequenceSet set = open_all("listops:" + folder.path(), SequencePart::kTrain, 800);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr(fmt::format("{} of 30 sequences are longer than 800 tokens", longer)));
  EXPECT_EQ(set.cut, longer);
  for (int64_t i = 0; i < 30; ++i) {
    std::vector<int32_t> start = whole.load(i, 0);
    start.resize(std::min<size_t>(start.size(), 800));
    EXPECT_EQ(set.load(i, 0), start);
    EXPECT_EQ(set.labels[i], whole.labels[i]);
  }
}

// Folders of texts.

void write_reviews(const TemporaryFolder& folder) {
  for (const char* part : {"train", "test"}) {
    for (const char* name : {"pos", "neg", "unsup"}) {
      for (int i = 0; i < 3; ++i) {
        write_text(folder.path(fmt::format("aclImdb/{}/{}/{}_1.txt", part, name, i)),
                   fmt::format("{} {} {}", part, name, i));
      }
    }
  }
  write_text(folder.path("aclImdb/train/urls_pos.txt"), "no review");
}

void expect_reviews(const std::string& spec) {
  const SequenceSet train = open_all(spec);
  EXPECT_THAT(train.classes, ElementsAre("neg", "pos"));
  EXPECT_THAT(train.labels, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(text_of(train.load(4, 0)), "train pos 1");
  EXPECT_THAT(train.describe(4), HasSubstr("aclImdb/train/pos/1_1.txt"));
  EXPECT_TRUE(train.shared);
  EXPECT_EQ(train.vocabulary, 512);
  EXPECT_EQ(text_of(open_all(spec, SequencePart::kDev).load(0, 0)), "test neg 0");
  EXPECT_EQ(text_of(open_all(spec, SequencePart::kTest).load(0, 0)), "test neg 0");
}

TEST(Reviews, AreReadFromTheirFolderAndFromTheirArchive) {
  const TemporaryFolder folder;
  write_reviews(folder);
  expect_reviews("imdb:" + folder.path());
  expect_reviews("imdb:" + folder.path("aclImdb"));
  const std::string pack =
      "tar czf aclImdb.tar.gz aclImdb/t*/neg aclImdb/t*/pos aclImdb/train/unsup";
  ASSERT_EQ(test::run_shell(pack, folder.path()).exit_code, 0);
  expect_reviews("imdb:" + folder.path("aclImdb.tar.gz"));
  std::filesystem::remove_all(folder.path("aclImdb"));
  expect_reviews("imdb:" + folder.path());
}

TEST(Reviews, NamesTooLongForAPlainTarHeaderAreRead) {
  const TemporaryFolder folder;
  const std::string name(120, 'n');
  for (const char* format : {"gnu", "pax", "ustar"}) {
    write_text(folder.path("a/train/x/" + name), "long");
    write_text(folder.path("a/test/x/" + name), "test");
    const std::string shorter = std::string(format) == "ustar"
                                    ? "cd a; mv train/x/* train/x/n; mv test/x/* test/x/n; cd ..; "
                                    : "";
    ASSERT_EQ(test::run_shell(shorter + "tar cf a.tar --format=" + format + " a", folder.path())
                  .exit_code,
              0);
    const SequenceSet set = open_text_archive(folder.path("a.tar"), SequencePart::kTrain, 100);
    ASSERT_EQ(set.size(), 1);
    EXPECT_EQ(text_of(set.load(0, 0)), "long");
  }
}

TEST(Reviews, ADamagedArchiveIsNamed) {
  const TemporaryFolder folder;
  write_reviews(folder);
  ASSERT_EQ(test::run_shell("tar cf a.tar aclImdb/train/pos", folder.path()).exit_code, 0);
  const std::string whole = test::read_file(folder.path("a.tar"));
  const auto error = [&](const std::string& bytes) {
    write_file(folder.path("b.tar"), bytes);
    return error_of([&] { open_text_archive(folder.path("b.tar"), SequencePart::kTest, 100); });
  };
  EXPECT_THAT(error(whole.substr(0, 1300)), HasSubstr("b.tar' is truncated"));
  EXPECT_THAT(error("x" + whole), HasSubstr("no tar archive"));
  EXPECT_THAT(error(whole), HasSubstr("has no texts in train/CLASS/ and test/CLASS/"));
}

TEST(TextFolder, WithoutPartsHoldsOutATenthOfEachClass) {
  const TemporaryFolder folder;
  for (int i = 0; i < 40; ++i) {
    write_text(folder.path(fmt::format("{}/{}.txt", i % 2 ? "ham" : "spam", i)), std::to_string(i));
  }
  const SequenceSet train = open_all("text:" + folder.path());
  const SequenceSet dev = open_all("text:" + folder.path(), SequencePart::kDev);
  EXPECT_EQ(train.size(), 36);
  EXPECT_EQ(dev.size(), 4);
  EXPECT_EQ(std::accumulate(dev.labels.begin(), dev.labels.end(), 0), 2);
  std::set<std::string> texts;
  for (int64_t i = 0; i < 36; ++i) texts.insert(text_of(train.load(i, 0)));
  for (int64_t i = 0; i < 4; ++i) texts.insert(text_of(dev.load(i, 0)));
  EXPECT_EQ(texts.size(), 40u);
  EXPECT_TRUE(dev.shared);
}

TEST(TextFolder, WhatIsWrongIsNamed) {
  const TemporaryFolder folder;
  write_text(folder.path("train/ham/1.txt"), "good");
  write_text(folder.path("train/spam/1.txt"), "b\xc3\x28");
  const std::string spec = "text:" + folder.path();
  EXPECT_THAT(error_of([&] { open_all(spec, SequencePart::kDev); }),
              HasSubstr("no val/, dev/ or test/"));
  const SequenceSet set = open_all(spec + "/train");
  EXPECT_EQ(text_of(set.load(0, 0)), "good");
  EXPECT_THAT(error_of([&] { set.load(1, 0); }), HasSubstr("spam/1.txt' is not UTF-8"));
  write_text(folder.path("train/spam/2.txt"), "");
  EXPECT_THAT(error_of([&] { open_all(spec); }), HasSubstr("spam/2.txt' is empty"));
  std::filesystem::remove(folder.path("train/spam/1.txt"));
  std::filesystem::remove(folder.path("train/spam/2.txt"));
  EXPECT_THAT(error_of([&] { open_all(spec); }), HasSubstr("train/spam' has no texts"));
  std::filesystem::remove(folder.path("train/spam"));
  write_text(folder.path("val/eggs/1.txt"), "new");
  EXPECT_THAT(error_of([&] { open_all(spec, SequencePart::kDev); }),
              HasSubstr("class 'eggs' is in"));
  EXPECT_THAT(error_of([&] { open_all("text:" + folder.path("none")); }), HasSubstr("no folder"));
  EXPECT_THAT(error_of([&] { open_all("text"); }), HasSubstr("write 'text:DIR'"));
  EXPECT_THAT(error_of([&] { open_all("txt:x"); }), HasSubstr("did you mean 'text'"));
}

// A character that the cut goes through is no reason to refuse a text.
TEST(TextFolder, ACutMayFallWithinACharacter) {
  const TemporaryFolder folder;
  write_text(folder.path("a/1.txt"),
             "xy\xe2\x82\xac"
             "z");
  write_text(folder.path("a/2.txt"), "plain");
  const SequenceSet set = open_text_folder(folder.path(), SequencePart::kTrain, 4);
  EXPECT_EQ(text_of(set.load(0, 0)), "xy\xe2\x82");
  EXPECT_EQ(set.cut, 2);
}

// Lines of texts.

TEST(TextLines, LabelsBecomeClassesInNaturalOrder) {
  const TemporaryFolder folder;
  const std::string file = folder.path("own.tsv");
  write_file(file, "c10\tfirst\r\nc9\tsecond \xe2\x82\xac\r\nc10\tthird\r\n");
  const SequenceSet set = open_text_lines(file, 100);
  EXPECT_THAT(set.classes, ElementsAre("c9", "c10"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1));
  EXPECT_EQ(text_of(set.load(1, 0)), "second \xe2\x82\xac");
  EXPECT_EQ(text_of(set.load(2, 0)), "third");
  EXPECT_EQ(set.describe(2), file + ":3");
}

TEST(TextLines, WhatIsWrongIsNamedByLine) {
  const TemporaryFolder folder;
  const std::string file = folder.path("own.tsv");
  const auto error = [&](const std::string& text) {
    write_file(file, text);
    return error_of([&] { open_text_lines(file, 100); });
  };
  EXPECT_THAT(error("a\tx\nb\n"), HasSubstr("line 2: no text"));
  EXPECT_THAT(error("a\tx\nb\ty\tz\n"), HasSubstr("line 2: the line has too many fields"));
  EXPECT_THAT(error("a\tx\n\ty\n"), HasSubstr("line 2: the label is empty"));
  EXPECT_THAT(error("a\tx\nb\t\n"), HasSubstr("line 2: a text is empty"));
  EXPECT_THAT(error("a\tx\nb\t\xe2\x82\n"), HasSubstr("line 2: not UTF-8"));
  EXPECT_THAT(error(std::string(2000, 'a') + "\tx\n"), HasSubstr("line 1: the label is longer"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error(test::gzip("a\tx\n")), HasSubstr("is compressed"));
  EXPECT_THAT(error_of([&] { open_text_lines(folder.path("none"), 9); }), HasSubstr("cannot open"));
}

// Longer than the reader's buffer by far, with line ends at its borders.
TEST(TextLines, LinesOfAnyLengthAreReadInPieces) {
  const TemporaryFolder folder;
  const std::string file = folder.path("own.tsv");
  for (size_t size : {(1u << 18) - 2, (1u << 18) - 1, 1u << 18, (1u << 18) + 1, 5'000'000u}) {
    write_file(file, "a\t" + std::string(size, 'x') + "\r\nb\ty\rz\r\n");
    const SequenceSet set = open_text_lines(file, 1000);
    ASSERT_EQ(set.size(), 2);
    EXPECT_EQ(set.cut, 1);
    EXPECT_EQ(text_of(set.load(0, 0)), std::string(1000, 'x'));
    EXPECT_EQ(text_of(set.load(1, 0)), "y\rz");
  }
}

}  // namespace
}  // namespace soft
