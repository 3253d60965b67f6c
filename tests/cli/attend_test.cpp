// `soft attend`, run as people run it: rows as JSON, maps and sheets as PNG.
#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "cli/photo.h"
#include "cli/weights_file.h"
#include "image/codec.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using testing::HasSubstr;

using Arguments = std::vector<std::string>;

class Attend : public testing::Test {
 protected:
  // soft attend ARGUMENTS…, which must succeed.
  Json rows(Arguments arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"attend", "--json"});
    const Outcome outcome = test::run_soft(arguments, input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return parse_json(outcome.out, "the answer");
  }

  Image drawn(Arguments arguments) const {
    const std::string out = folder_.path("heat.png");
    arguments.insert(arguments.begin(), {"attend", "--out", out});
    const Outcome outcome = test::run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("share "));
    return read_image(out);
  }

  std::string weights(const std::string& name, const std::string& setting) const {
    ModelSpec spec = find_model("soft-pico");
    apply_setting(spec, setting);
    test::write_weights(folder_.path(name), spec);
    return folder_.path(name);
  }

  std::string picture(const std::string& name, const Image& image) const {
    const auto png = encode_png(image);
    test::write_file(folder_.path(name), {png.begin(), png.end()});
    return folder_.path(name);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Attend, GivesTheRowsOfTheFirstTwoHeadsOfStageTwo) {
  const Json answer = rows({"--query", "220,110", kCat});
  EXPECT_EQ(answer["grid"], (Json{8, 8}));
  ASSERT_EQ(answer["rows"].size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const Json& row = answer["rows"][i];
    EXPECT_EQ(row["stage"], 2);
    EXPECT_EQ(row["layer"], 2);
    EXPECT_EQ(row["head"], i + 1);
    EXPECT_EQ(row["row"].size(), 64u);
  }
}

TEST_F(Attend, RunsTheModelAtALargerSizeForFinerMaps) {
  EXPECT_EQ(rows({"--query", "0,0", "--size", "128", kCat})["grid"], (Json{32, 32}));
  EXPECT_EQ(rows({"--query", "0,0", "--size", "64x96", "--stage", "1", kCat})["grid"],
            (Json{32, 48}));
}

TEST_F(Attend, ReadsStandardInput) {
  EXPECT_EQ(rows({"--query", "9,9", "-"}, test::read_file(kCat)), rows({"--query", "9,9", kCat}));
}

TEST_F(Attend, GivesEveryLayerHeadQueryAndModelThatIsAskedFor) {
  const std::string soft = weights("a", "norm=off"), norm = weights("b", "norm=on");
  const Json answer = rows({"--weights", soft, "--weights", norm, "--query", "1,2", "--query",
                            "3,4", "--stage", "3", "--layers", "all", "--heads", "all", kCat});
  ASSERT_EQ(answer.size(), 4u);
  const ModelSpec spec = find_model("soft-pico");
  const size_t maps = size_t{1} * spec.stages[2].depth * spec.stages[2].heads;
  for (const Json& item : answer) EXPECT_EQ(item["rows"].size(), maps);
  EXPECT_EQ(answer[1]["weights"], norm);
  EXPECT_EQ(answer[1]["query"], (Json{1, 2}));
  EXPECT_EQ(answer[2]["weights"], soft);
  EXPECT_EQ(answer[2]["query"], (Json{3, 4}));
}

// One of these models idles in its first stage, the other works.
TEST_F(Attend, SaysHowMuchEachHeadAddsAndWarnsOfThoseThatIdle) {
  const std::string idle = weights("idle", "attention=none");
  const std::string alive = weights("alive", "normalise=rows");
  const Arguments more{"--query", "1,2", "--stage", "1", "--layers", "all", kCat};
  const auto outcome_of = [&](const std::string& file, const std::string& form) {
    Arguments arguments{"attend", "--weights", file, form};
    if (form == "--out") arguments.push_back(folder_.path("heat.png"));
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_soft(arguments);
  };
  const Outcome text = outcome_of(idle, "--out");
  EXPECT_EQ(text.out, "layer 1.1 head 1  share 0  (layer 0)\n");
  EXPECT_THAT(text.err, HasSubstr("layer 1.1 head 1 idles"));
  const Json row = parse_json(outcome_of(idle, "--json").out, "rows")["rows"][0];
  EXPECT_EQ(row["share"], 0);
  EXPECT_EQ(row["layer_share"], 0);
  EXPECT_EQ(row["idle"], true);
  const Outcome works = outcome_of(alive, "--json");
  const Json living = parse_json(works.out, "rows")["rows"][0];
  EXPECT_GT(living["share"].get<double>(), 0.01);
  EXPECT_EQ(living["idle"], false);
  EXPECT_THAT(works.err, testing::Not(HasSubstr("idles")));
}

TEST_F(Attend, ShowsTheBestHeadWhenItIsAskedFor) {
  const Json answer = rows(
      {"--weights", weights("w", "normalise=rows"), "--query", "1,2", "--stage", "best", kCat});
  ASSERT_EQ(answer["rows"].size(), 1u);
  for (const char* key : {"stage", "layer", "head"}) {
    EXPECT_EQ(answer["best"][key], answer["rows"][0][key]) << key;
  }
  EXPECT_LT(answer["best"]["stage"].get<int>(), 4);
}

// Every patch of one shade has the same query vector but for its learned position, so the Gaussian
// kernel is highest between patches of the same shade.
TEST_F(Attend, FindsTheOtherPatchesThatLookAlike) {
  Image image(240, 80);  // white on the right third
  for (int y = 0; y < 80; ++y) std::fill_n(image.pixel(160, y), 3 * 80, 255);
  const std::string file = picture("third.png", image), dense = weights("dense", "stage4=soft");
  for (const bool white : {true, false}) {
    const Json answer = rows({"--weights", dense, "--query", white ? "195,50" : "40,35", "--stage",
                              "4", "--head", "1", "--size", "128", file});
    ASSERT_EQ(answer["grid"], (Json{8, 8}));
    const auto row = answer["rows"][0]["row"].get<std::vector<float>>();
    const auto mean = [&](int from, int to) {
      double sum = 0;
      for (int y = 1; y < 7; ++y) {
        for (int x = from; x < to; ++x) sum += row[y * 8 + x];
      }
      return sum / (6 * (to - from));
    };
    const double left = mean(1, 4), right = mean(6, 7);  // clear of the borders
    EXPECT_GT(white ? right : left, white ? left : right);
  }
}

TEST_F(Attend, DrawsOneMapPixelByPixelOverThePictureWithACrossAtTheQuery) {
  const Image map = drawn({"--query", "400,20", "--head", "1", kCat});
  EXPECT_EQ(map.width, 451);
  EXPECT_EQ(map.height, 300);
  EXPECT_EQ(map.pixel(400, 20)[0], 255);
  EXPECT_EQ(map.pixel(405, 20)[1], 255);
  EXPECT_EQ(map.pixel(400, 24)[2], 255);
}

TEST_F(Attend, DrawsSeveralMapsBesideThePicture) {
  const Image sheet = drawn({"--query", "400,20", kCat});
  EXPECT_GE(sheet.width, 3 * 451);
  EXPECT_GE(sheet.height, 300);
  const Image small = drawn({"--query", "400,20", "--tile", "90", kCat});
  EXPECT_LT(small.width, 3 * 90 + 40);
  const Image models =
      drawn({"--query", "400,20", "--query", "4,20", "--tile", "90", "--weights",
             weights("a", "norm=off"), "--weights", weights("b", "norm=on"), kCat});
  EXPECT_EQ(models.width, small.width);  // the picture and two models; heads below each other
  EXPECT_GT(models.height, 4 * 60);      // two queries of two heads
}

TEST_F(Attend, CountsInPixelsOfTheUprightPicture) {
  Image image(90, 40);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * i / 700);
  const auto jpeg = encode_jpeg(image);
  // Orientation 6: what is stored lies on its side, 40 x 90 when upright.
  std::string bytes(jpeg.begin(), jpeg.end());
  bytes.insert(2, std::string("\xff\xe1\x00\x22"
                              "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0",
                              36));
  test::write_file(folder_.path("side.jpg"), bytes);
  const Image upright = read_image(folder_.path("side.jpg"), {true});
  ASSERT_EQ(upright.width, 40);
  const std::string straight = picture("straight.png", upright);
  const Arguments query{"--query", "30,80", "--head", "1"};
  const auto of = [&](const std::string& file) {
    Arguments arguments = query;
    arguments.push_back(file);
    return arguments;
  };
  EXPECT_EQ(rows(of(folder_.path("side.jpg"))), rows(of(straight)));
  EXPECT_EQ(drawn(of(folder_.path("side.jpg"))).rgb, drawn(of(straight)).rgb);
}

TEST_F(Attend, RefusesWhatItCannotShowAndWritesNothing) {
  struct Wrong {
    Arguments arguments;
    int exit_code;
    std::string message;
  };
  const std::string out = folder_.path("heat.png");
  const std::vector<Wrong> all{
      {{"--query", "451,0", kCat}, 2, "451,0 is outside the picture"},
      {{"--query=0,-1", kCat}, 2, "outside the picture"},
      {{"--query", "12", kCat}, 2, "must be X,Y"},
      {{"--query", "1,2,3", kCat}, 2, "must be X,Y"},
      {{"--query", "1.5,2", kCat}, 2, "must be X,Y"},
      {{kCat}, 2, "--query is required"},
      {{"--query", "1,2", "--stage", "5", kCat}, 2, "stage 5 does not exist"},
      {{"--query", "1,2", "--stage", "0", kCat}, 2, "a number from 1 up, or best"},
      {{"--query", "1,2", "--stage", "all", kCat}, 2, "a number from 1 up, or best"},
      {{"--query", "1,2", "--layer", "3", kCat}, 2, "layer 3 does not exist"},
      {{"--query", "1,2", "--head", "9", kCat}, 2, "head 9 does not exist"},
      {{"--query", "1,2", "--head", "0", kCat}, 2, "a number from 1 up, or all"},
      {{"--query", "1,2", "--heads", "both", kCat}, 2, "or all"},
      {{"--query", "1,2", "--size", "16", kCat}, 2, "--size"},
      {{"--query", "1,2", "--tile", "3", kCat}, 2, "--tile"},
      {{"--query", "1,2", "--attention", "sofd", kCat}, 2, "soft"},
      {{"--query", "1,2", folder_.path("none.png")}, 1, "none.png"},
      {{"--query", "1,2", "--weights", kCat, kCat}, 1, "cannot read weights"},
      {{"--query", "1,2", "--size", "16384", kCat}, 1, "memory"},
  };
  for (const Wrong& wrong : all) {
    Arguments arguments{"attend", "--out", out};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Outcome outcome = test::run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, wrong.exit_code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(wrong.message));
    EXPECT_FALSE(std::filesystem::exists(out)) << wrong.message;
  }
}

TEST_F(Attend, NeedsSomethingToMakeAndAPlaceToPutIt) {
  const Outcome nothing = test::run_soft({"attend", "--query", "1,2", kCat});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--out"));
  const std::string jpeg = folder_.path("heat.jpg");
  const Outcome wrong = test::run_soft({"attend", "--query", "1,2", "--out", jpeg, kCat});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("must end in .png"));
  EXPECT_FALSE(std::filesystem::exists(jpeg));
  const Outcome nowhere =
      test::run_soft({"attend", "--query", "1,2", "--out", folder_.path("no/heat.png"), kCat});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("there is no folder"));
}

}  // namespace
}  // namespace soft
