#include <filesystem>

#include "base/json.h"
#include "image/codec.h"
#include "support/support.h"

namespace soft {
namespace {

using test::run_soft;

TEST(DataCommand, ListsTheSetsWithANameAndWhereTheyAre) {
  const test::Outcome outcome = run_soft({"data", "list", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[0].at("name"), "cifar10");
  for (const Json& row : rows) {
    const bool drawn = row.value("drawn", false);
    EXPECT_EQ(row.at("found").get<bool>(), drawn || !row.at("folder").get<std::string>().empty());
    EXPECT_EQ(row.at("found").get<bool>(), row.count("cure") == 0);
  }
}

TEST(DataCommand, SaysWherePublishedSetsAreAndHowTheyAreLaidOut) {
  const test::TemporaryFolder folder;
  const std::string home = "env -C " + folder.path() + " HOME=/ SOFT_DATA= " SOFT_BINARY;
  const test::Outcome list = test::run_shell(home + " data list");
  EXPECT_THAT(list.out, testing::HasSubstr("train|test/pos|neg/*.txt"));
  EXPECT_THAT(list.out, testing::HasSubstr("new_aan_pairs.{train,eval,test}.tsv"));
  EXPECT_THAT(list.out, testing::HasSubstr("soft lra generate listops"));
  const test::Outcome get = test::run_shell(home + " data get imdb");
  EXPECT_EQ(get.exit_code, 1);
  EXPECT_THAT(get.err, testing::HasSubstr("ai.stanford.edu"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("data")));
}

TEST(DataCommand, AMistypedSetIsAUsageErrorWithTheNearestName) {
  const test::TemporaryFolder folder;
  const test::Outcome outcome = run_soft({"data", "get", "mnits", "--out", folder.path("new")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::HasSubstr("did you mean 'mnist'"));
  EXPECT_EQ(outcome.out, "");
}

TEST(DataCommand, NeedsToBeToldWhatToDo) {
  EXPECT_EQ(run_soft({"data"}).exit_code, 2);
  EXPECT_EQ(run_soft({"data", "get"}).exit_code, 2);
  EXPECT_THAT(run_soft({"data", "get", "--help"}).out, testing::HasSubstr("Example"));
}

TEST(DataCommand, ExportsPicturesInTheLayoutThatFolderReads) {
  const test::TemporaryFolder folder;
  const test::Outcome outcome = run_soft(
      {"data", "export", "shapes", "--limit", "24", "--size", "40", "--out", folder.path()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  int64_t pictures = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("val"))) {
    if (!entry.is_regular_file()) continue;
    ++pictures;
    EXPECT_EQ(read_image(entry.path().string()).width, 40);
  }
  EXPECT_EQ(pictures, 24);
}

TEST(DataCommand, ExportsTheCueAtAnySize) {
  const test::TemporaryFolder folder;
  const test::Outcome outcome =
      run_soft({"data", "export", "cue", "--limit", "9", "--size", "47", "--out", folder.path()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  int64_t pictures = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("val"))) {
    if (!entry.is_regular_file()) continue;
    ++pictures;
    EXPECT_EQ(read_image(entry.path().string()).height, 47);
  }
  EXPECT_EQ(pictures, 9);
}

TEST(DataCommand, PacksAFolderIntoShardsThatCountAsTheFolderDoes) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(run_soft({"data", "export", "shapes", "--limit", "200", "--out",
                      folder.path("pictures"), "--split", "train"})
                .exit_code,
            0);
  const test::Outcome packed = run_soft({"data", "shard", "folder:" + folder.path("pictures/train"),
                                         "--out", folder.path("shards"), "--size", "64kB"});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_THAT(packed.err, testing::HasSubstr("200 pictures in "));
  EXPECT_TRUE(std::filesystem::exists(folder.path("shards/train-000001.tar")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("shards/val-000000.tar")));
  const auto accuracy = [](const std::string& spec) {
    const test::Outcome outcome = run_soft({"eval", "--data", spec, "--json"});  // model in the box
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_GE(json.at("images").get<int64_t>(), 20) << "a tenth of each class";
    return Json::array({json.at("images"), json.at("top1")});
  };
  EXPECT_EQ(accuracy("tar:" + folder.path("shards")),
            accuracy("folder:" + folder.path("pictures/train")));
  const test::Outcome again = run_soft({"data", "shard", "shapes", "--out", folder.path("shards")});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, testing::HasSubstr("already has shards"));
}

TEST(DataCommand, ShardsNeedASizeThatIsOne) {
  for (const char* size : {"big", "0", "-1GB", "1XB", "", "1e30GB"}) {
    const test::TemporaryFolder folder;
    const test::Outcome outcome = run_soft(
        {"data", "shard", "shapes", "--out", folder.path("new"), std::string("--size=") + size});
    EXPECT_EQ(outcome.exit_code, 2) << size;
    EXPECT_FALSE(std::filesystem::exists(folder.path("new")));
  }
}

TEST(DataCommand, RefusesASplitThatDoesNotExist) {
  const test::TemporaryFolder folder;
  const test::Outcome outcome =
      run_soft({"data", "export", "shapes", "--split", "vall", "--out", folder.path("new")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, testing::HasSubstr("did you mean 'val'"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("new")));
}

}  // namespace
}  // namespace soft
