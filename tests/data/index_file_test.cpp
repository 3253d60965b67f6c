#include "data/index_file.h"

#include <filesystem>

#include "data/toy.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

class Index : public testing::Test {
 protected:
  Index() {
    fs::create_directories(folder_.path("data/a"));
    test::make_old(folder_.path("data/a"));
  }
  IndexFile open() { return IndexFile(folder_.path("data"), spare_); }
  void keep(const std::string& content) {
    IndexFile index = open();
    index.put("a", {"a"}, IndexFile::now(), content);
    index.save();
  }
  std::string found() {
    const IndexFile index = open();
    const std::string_view* content = index.find("a");
    return content == nullptr ? "nothing" : std::string(*content);
  }
  std::string file() const { return folder_.path("data/.soft-index"); }

  test::TemporaryFolder folder_;
  std::string spare_;
};

TEST_F(Index, HoldsWhatWasPutWhileItsSourceStandsStill) {
  EXPECT_EQ(found(), "nothing");
  keep(std::string("names\0and more", 14));
  EXPECT_EQ(found(), std::string("names\0and more", 14));
  test::write_file(folder_.path("data/a/new"), "");
  EXPECT_EQ(found(), "nothing");
}

TEST_F(Index, NoticesARemovedSourceAndAnotherOfTheSameTime) {
  keep("x");
  const auto time = fs::last_write_time(folder_.path("data/a"));
  fs::create_directories(folder_.path("data/b"));
  fs::rename(folder_.path("data/a"), folder_.path("data/aside"));
  EXPECT_EQ(found(), "nothing");
  fs::rename(folder_.path("data/b"), folder_.path("data/a"));
  fs::last_write_time(folder_.path("data/a"), time);
  EXPECT_EQ(found(), "nothing");
}

TEST_F(Index, DoesNotBelieveATimeThatMayStillTick) {
  fs::last_write_time(folder_.path("data/a"), fs::file_time_type::clock::now());
  keep("x");
  EXPECT_FALSE(fs::exists(file())) << "nothing to keep yet";
  IndexFile index = open();
  index.put("a", {"a"}, IndexFile::kSettled, "x");
  index.save();
  EXPECT_EQ(found(), "x");
}

TEST_F(Index, DamageMakesItEmpty) {
  keep("content");
  const std::string bytes = test::read_file(file());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    test::write_file(file(), damaged);
    ASSERT_EQ(found(), "nothing") << "byte " << i;
    test::write_file(file(), bytes.substr(0, i));
    ASSERT_EQ(found(), "nothing") << i << " bytes";
  }
  keep("again");
  EXPECT_EQ(found(), "again");
}

TEST_F(Index, ForgetsWhatIsGoneAndKeepsTheRest) {
  fs::create_directories(folder_.path("data/b"));
  test::make_old(folder_.path("data/b"));
  IndexFile index = open();
  index.put("b", {"b"}, IndexFile::now(), std::string(1000, 'b'));
  index.save();
  fs::remove(folder_.path("data/b"));
  keep("x");
  EXPECT_EQ(found(), "x");
  EXPECT_LT(fs::file_size(file()), 500u);
}

// A folder in the way of the file stands for a place that cannot be written: root writes anywhere.
TEST_F(Index, StandsInTheSpareFolderWhereTheDataCannotBeWritten) {
  fs::create_directories(file());
  spare_ = folder_.path("runs");
  keep("spare");
  EXPECT_EQ(found(), "spare");
  EXPECT_EQ(std::distance(fs::directory_iterator(spare_), {}), 1);
  spare_ = "";
  keep("nowhere");
  EXPECT_EQ(found(), "nothing");
}

}  // namespace
}  // namespace soft
