#include "data/sequence_loader.h"

#include <map>
#include <numeric>
#include <set>

#include "data/bytes_literal.h"
#include "data/listops.h"
#include "data/sequence.h"
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

// Pairs.

TEST(Pairs, TextsArePlainOrBytesLiterals) {
  const TemporaryFolder folder;
  const std::string file = folder.path("new_aan_pairs.train.tsv");
  write_file(file,
             "1.0\tA\tB\tplain text\tb\n"
             "0\tC\tD\tb'it\\'s \\xe2\\x82\\xac \\\\ \\n'\tb\"it's\"\n");
  for (SequencePart part : {SequencePart::kDev, SequencePart::kTest}) {
    EXPECT_THAT(error_of([&] { open_all("aan:" + folder.path(), part); }), HasSubstr("0 file(s)"));
  }
  const SequenceSet set = open_all("aan:" + folder.path());
  EXPECT_EQ(set.sides, 2);
  EXPECT_THAT(set.labels, ElementsAre(1, 0));
  EXPECT_EQ(text_of(set.load(0, 0)), "plain text");
  EXPECT_EQ(text_of(set.load(0, 1)), "b");
  EXPECT_EQ(text_of(set.load(1, 0)), "it's \xe2\x82\xac \\ \n");
  EXPECT_EQ(text_of(set.load(1, 1)), "it's");
}

TEST(Pairs, LongLiteralsAreCutAfterDecoding) {
  const TemporaryFolder folder;
  const std::string file = folder.path("x.train.tsv");
  std::string literal = "b'";
  for (int i = 0; i < 1000; ++i) literal += "\\xc3\\xa4";
  write_file(file, "1\tA\tB\t" + literal + "'\tshort\n");
  const SequenceSet set = open_pairs(file, 7);
  EXPECT_EQ(set.cut, 1);
  EXPECT_EQ(text_of(set.load(0, 0)), "\xc3\xa4\xc3\xa4\xc3\xa4\xc3");
}

TEST(Pairs, WhatIsWrongIsNamedByLine) {
  const TemporaryFolder folder;
  const std::string file = folder.path("x.train.tsv");
  const auto error = [&](const std::string& line) {
    write_file(file, "1\tA\tB\tx\ty\n" + line);
    return error_of([&] { open_pairs(file, 100); });
  };
  EXPECT_THAT(error("2.0\tA\tB\tx\ty\n"), HasSubstr("line 2: label '2.0' is neither 0 nor 1"));
  EXPECT_THAT(error("1\tA\tB\tx\n"), HasSubstr("line 2: no text"));
  EXPECT_THAT(error("1\tA\tB\tx\ty\tz\n"), HasSubstr("line 2: the line has too many fields"));
  EXPECT_THAT(error("1\tA\tB\tx\t\n"), HasSubstr("line 2: a text is empty"));
  EXPECT_THAT(error("1\tA\tB\tb''\ty\n"), HasSubstr("line 2: a text is empty"));
  EXPECT_THAT(error("1\tA\tB\tb'x\ty\n"), HasSubstr("line 2: a bytes literal has no end"));
  EXPECT_THAT(error("1\tA\tB\tb'\\xzz'\ty\n"), HasSubstr("line 2: '\\x' of a bytes literal"));
  EXPECT_THAT(error("1\tA\tB\tb'\\q'\ty\n"), HasSubstr("line 2: '\\q' is no escape"));
  EXPECT_THAT(error("1\tA\tB\tb'x'y\ty\n"), HasSubstr("line 2: 'y' comes after the end"));
  EXPECT_THAT(error("1\tA\tB\tb'\\xff'\ty\n"), HasSubstr("line 2: a bytes literal holds no UTF-8"));
}

// Grey pixels.

std::string cifar_records(int count, int offset) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes += static_cast<char>((i + offset) % 10);
    for (int k = 0; k < 3072; ++k) {
      const int value = k % 1024 == 0 ? 0 : k % 1024 == 1 ? 255 : (k / 1024 + 1) * 40 + k % 7;
      bytes += static_cast<char>(value);
    }
  }
  return bytes;
}

TEST(GreyPixels, AreRoundedShiftedAndInRowOrder) {
  const TemporaryFolder folder;
  for (int i = 1; i <= 5; ++i) {
    write_file(folder.path(fmt::format("data_batch_{}.bin", i)), cifar_records(20, i));
  }
  write_file(folder.path("test_batch.bin"), cifar_records(30, 0));
  SequenceRequest request;
  request.spec = "cifar10-grey:" + folder.path();
  const SequenceSet train = open_sequences(request);
  EXPECT_EQ(train.size(), 90);
  EXPECT_EQ(train.vocabulary, 512);
  const std::vector<int32_t> tokens = train.load(0, 0);
  ASSERT_EQ(tokens.size(), 1024u);
  EXPECT_EQ(tokens[0], 1);    // black
  EXPECT_EQ(tokens[1], 256);  // white
  // k % 7 differs by channel: 1024 leaves 2, 2048 leaves 4.
  EXPECT_EQ(tokens[14], 1 + std::lround(0.2989 * 40 + 0.5870 * 82 + 0.1140 * 124));
  request.black_is_padding = true;
  EXPECT_EQ(open_sequences(request).load(0, 0)[0], 0);
  EXPECT_EQ(open_sequences(request).load(0, 0)[1], 255);
  request.part = SequencePart::kDev;
  const SequenceSet dev = open_sequences(request);
  EXPECT_EQ(dev.size(), 10);
  EXPECT_EQ(dev.labels[0], (10 + 5) % 10);
  request.part = SequencePart::kTest;
  EXPECT_EQ(open_sequences(request).size(), 30);
}

// Batches.

SequenceSet numbered(int64_t count) {
  SequenceSet set;
  set.name = "numbered";
  set.classes = {"even", "odd"};
  set.sides = 2;
  set.length = 50;
  set.vocabulary = 200;
  for (int64_t i = 0; i < count; ++i) set.labels.push_back(static_cast<int>(i % 2));
  set.load = [](int64_t index, int side) {
    return std::vector<int32_t>(1 + (index * 7 + side) % 9, static_cast<int32_t>(index + 1));
  };
  set.describe = [](int64_t index) { return "numbered/" + std::to_string(index); };
  return set;
}

TEST(SequenceLoader, PadsToTheLongestSequenceAndKeepsSidesApart) {
  SequenceLoader loader(numbered(5), {3, false, 0});
  loader.start(0);
  SequenceBatch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.count, 3);
  EXPECT_EQ(batch.length, 9);
  EXPECT_THAT(batch.lengths, ElementsAre(1, 8, 6, 2, 9, 7));
  EXPECT_THAT(batch.labels, ElementsAre(0, 1, 0));
  ASSERT_EQ(batch.tokens.size(), 2u * 3 * 9);
  EXPECT_EQ(batch.tokens[0], 1);
  EXPECT_EQ(batch.tokens[1], 0);
  EXPECT_EQ(batch.tokens[(3 + 1) * 9 + 8], 2);  // the second side of example 1, to its end
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.count, 2);
  EXPECT_FALSE(loader.next(batch));
}

std::vector<int64_t> visited(SequenceLoader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<int64_t> indices;
  loader.start(epoch, first);
  for (SequenceBatch batch; loader.next(batch);) {
    indices.insert(indices.end(), batch.indices.begin(), batch.indices.end());
  }
  return indices;
}

TEST(SequenceLoader, TheOrderFollowsFromSeedAndEpoch) {
  SequenceLoader one(numbered(50), {8, true, 1}), same(numbered(50), {8, true, 1}),
      other(numbered(50), {8, true, 2});
  const auto order = visited(one, 3);
  EXPECT_EQ(order.size(), 48u);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 48u);
  EXPECT_EQ(order, visited(same, 3));
  EXPECT_NE(order, visited(other, 3));
  EXPECT_NE(order, visited(same, 4));
  EXPECT_EQ(std::vector<int64_t>(order.begin() + 16, order.end()), visited(same, 3, 2));
}

TEST(SequenceLoader, ATokenOutsideTheVocabularyIsNamed) {
  SequenceSet set = numbered(4);
  set.vocabulary = 3;
  SequenceLoader loader(set, {4, false, 0});
  loader.start(0);
  SequenceBatch batch;
  EXPECT_THAT(error_of([&] { loader.next(batch); }),
              HasSubstr("numbered/2: token 3 is outside the vocabulary of 3"));
}

TEST(SequenceLoader, TooFewExamplesForABatchAreRefused) {
  EXPECT_THAT(error_of([] {
                SequenceLoader(numbered(3), {4, true, 0});
              }),
              HasSubstr("not enough for one batch of 4"));
}

}  // namespace
}  // namespace soft
