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
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("name"), "cifar10");
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("found").get<bool>(), !row.at("folder").get<std::string>().empty());
  }
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
