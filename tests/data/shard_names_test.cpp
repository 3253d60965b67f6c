#include "data/shard_names.h"

#include <filesystem>

#include "data/toy.h"

namespace soft {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

class ShardNames : public testing::Test {
 protected:
  void add(const std::vector<std::string>& names) {
    for (const std::string& name : names) test::write_file(folder_.path(name), "");
  }
  std::vector<std::string> inside(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) {
      names.push_back(std::filesystem::path(path).filename().string());
    }
    return names;
  }
  test::TemporaryFolder folder_;
};

TEST(Braces, ExpandAsInTheShell) {
  EXPECT_THAT(expand_braces("plain"), ElementsAre("plain"));
  EXPECT_THAT(expand_braces("a-{008..010}.tar"),
              ElementsAre("a-008.tar", "a-009.tar", "a-010.tar"));
  EXPECT_THAT(expand_braces("{8..10}"), ElementsAre("8", "9", "10"));
  EXPECT_THAT(expand_braces("{a,b{1..2}}x{y,}"),
              ElementsAre("axy", "ax", "b1xy", "b1x", "b2xy", "b2x"));
}

TEST(Braces, AreRefusedWhenTheyMakeNoSense) {
  EXPECT_THAT(error_of([] { expand_braces("a{b"); }), HasSubstr("not closed"));
  EXPECT_THAT(error_of([] { expand_braces("{5..3}"); }), HasSubstr("ends before it begins"));
  EXPECT_THAT(error_of([] { expand_braces("{0..99999999}"); }), HasSubstr("more than 1000000"));
  EXPECT_THAT(error_of([] { expand_braces("{0..9999}{0..9999}"); }), HasSubstr("more than"));
}

TEST_F(ShardNames, AFolderHasThoseOfBothSplitsInNaturalOrder) {
  add({"train-10.tar", "train-9.tar", "val-0.tar", "test-0.tar", "train-9.txt", "other.tar"});
  const ShardPaths paths = find_shards(folder_.path());
  EXPECT_THAT(inside(paths.train), ElementsAre("train-9.tar", "train-10.tar"));
  EXPECT_THAT(inside(paths.val), ElementsAre("val-0.tar"));
}

TEST_F(ShardNames, WithoutTheWordTrainAllTrainThatNeitherValidateNorTest) {
  add({"cats-0.tar", "cats-1.tar", "cats_validation_0.tar", "cats-test.tar", "valley.tar"});
  const ShardPaths paths = find_shards(folder_.path());
  EXPECT_THAT(inside(paths.train), ElementsAre("cats-0.tar", "cats-1.tar", "valley.tar"));
  EXPECT_THAT(inside(paths.val), ElementsAre("cats_validation_0.tar"));
}

TEST_F(ShardNames, NamedTrainingShardsHaveTheirValidationBesideThem) {
  add({"train-00.tar", "train-01.tar", "train-02.tar", "val-00.tar", "val-01.tar"});
  const ShardPaths some = find_shards(folder_.path("train-{01..02}.tar"));
  EXPECT_THAT(inside(some.train), ElementsAre("train-01.tar", "train-02.tar"));
  EXPECT_THAT(inside(some.val), ElementsAre("val-00.tar", "val-01.tar"));
  const ShardPaths both = find_shards(folder_.path("{train-{00..02},val-01}.tar"));
  EXPECT_EQ(both.train.size(), 3u);
  EXPECT_THAT(inside(both.val), ElementsAre("val-01.tar"));
  EXPECT_THAT(inside(find_shards(folder_.path("train-*.tar")).train),
              ElementsAre("train-00.tar", "train-01.tar", "train-02.tar"));
}

TEST_F(ShardNames, WhatIsMissingIsNamed) {
  add({"train-00.tar"});
  EXPECT_THAT(error_of([&] { find_shards(folder_.path("train-{00..01}.tar")); }),
              HasSubstr("no shard '" + folder_.path("train-01.tar")));
  EXPECT_THAT(error_of([&] { find_shards(folder_.path("*-7.tar")); }),
              HasSubstr("no shard matches"));
  std::filesystem::create_directory(folder_.path("empty"));
  EXPECT_THAT(error_of([&] { find_shards(folder_.path("empty")); }), HasSubstr("soft data shard"));
  EXPECT_THAT(error_of([&] { find_shards(folder_.path("none/*.tar")); }), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace soft
