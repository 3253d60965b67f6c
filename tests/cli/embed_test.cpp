#include <filesystem>

#include "base/json.h"
#include "base/npy.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

const std::string kPhotos = SOFT_SOURCE_DIR "/data/photos";

class Embed : public testing::Test {
 protected:
  Embed() {
    test::write_weights(weights(), find_model("soft-nano"));
    fs::create_directories(folder_.path("album/deep"));
    fs::copy(kPhotos + "/cat_chelsea.png", folder_.path("album/deep/a.png"));
    fs::copy(kPhotos + "/cat_chelsea.png", folder_.path("album/b.png"));
  }

  std::string weights() const { return folder_.path("w.safetensors"); }
  std::string out() const { return folder_.path("x.npy"); }

  Outcome embed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "embed");
    arguments.insert(arguments.end(), {"--weights", weights(), "--out", out()});
    return run_soft(arguments);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Embed, WritesOneRowPerPictureInTheOrderGiven) {
  const std::string cat = kPhotos + "/cat_chelsea.png";
  const Outcome outcome = embed({"--json", cat, folder_.path("album")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (Json{{"file", cat}, {"row", 0}}));
  EXPECT_EQ(rows[1].at("file"), folder_.path("album/b.png"));
  EXPECT_EQ(rows[2].at("file"), folder_.path("album/deep/a.png"));
  const Array array = read_npy(out());
  EXPECT_EQ(array.shape, (std::vector<int64_t>{3, 192}));
  const std::vector<float> first(array.data.begin(), array.data.begin() + 192);
  for (float value : first) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(Embed, ManyPicturesKeepTheirRows) {
  const std::string cat = kPhotos + "/cat_chelsea.png";
  ASSERT_EQ(embed({cat}).exit_code, 0);
  const std::vector<float> alone = read_npy(out()).data;
  std::vector<std::string> many(9, cat);  // more than one batch
  ASSERT_EQ(embed(many).exit_code, 0);
  const Array together = read_npy(out());
  ASSERT_EQ(together.shape, (std::vector<int64_t>{9, 192}));
  for (size_t i = 0; i < together.data.size(); ++i) {
    ASSERT_NEAR(together.data[i], alone[i % alone.size()], 1e-4);
  }
}

TEST_F(Embed, OneUnreadablePictureMeansNoFile) {
  test::write_file(folder_.path("album/broken.jpg"), "not a picture");
  test::write_file(out(), "old");
  const Outcome outcome = embed({"--json", folder_.path("album")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("broken.jpg': not a picture"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 pictures could not be read"));
  EXPECT_EQ(test::read_file(out()), "old");
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[1].contains("error"));
  EXPECT_FALSE(rows[0].contains("row"));
}

TEST_F(Embed, AMissingFolderIsNoticedBeforeAnythingRuns) {
  const Outcome outcome = run_soft(
      {"embed", "--weights", weights(), "--out", folder_.path("no/x.npy"), folder_.path("album")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no folder"));
}

TEST_F(Embed, ANameThatNoFileCanHaveIsNoticedBeforeAnythingRuns) {
  const Outcome outcome = run_soft({"embed", "--weights", weights(), "--out",
                                    folder_.path(std::string(300, 'x')), folder_.path("album")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, testing::StartsWith("soft: cannot write '"));
  EXPECT_THAT(outcome.err, HasSubstr("File name too long"));
}

TEST_F(Embed, AnEmptyFolderIsAnUnreadablePicture) {
  fs::create_directory(folder_.path("empty"));
  const Outcome outcome = embed({"--json", folder_.path("empty"), folder_.path("album")});
  EXPECT_EQ(outcome.exit_code, 1);
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[0].contains("error"));
  EXPECT_FALSE(rows[1].contains("error"));
  EXPECT_FALSE(fs::exists(out()));
}

#if SOFT_WITH_TORCH
TEST_F(Embed, BothEnginesGiveTheSameVectors) {
  ASSERT_EQ(embed({folder_.path("album")}).exit_code, 0);
  const Array native = read_npy(out());
  const Outcome outcome = embed({"--engine", "torch", folder_.path("album")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Array torch = read_npy(out());
  EXPECT_EQ(torch.shape, native.shape);
  EXPECT_THAT(torch.data, testing::Pointwise(testing::FloatNear(1e-3f), native.data));
}
#endif

}  // namespace
}  // namespace soft
