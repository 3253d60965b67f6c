// From a picture and a pixel to rows of the attention matrix.
#include "engine/attend.h"

#include <limits>

#include "engine/mini.h"

namespace soft {
namespace {

using namespace test;
using testing::HasSubstr;

// A picture without symmetry, so that swapped axes show.
Image slope(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      uint8_t* pixel = image.pixel(x, y);
      pixel[0] = static_cast<uint8_t>(255 * x / width);
      pixel[1] = static_cast<uint8_t>(255 * y / height);
      pixel[2] = static_cast<uint8_t>(x * y % 251);
    }
  }
  return image;
}

Preprocessing preprocessing() {
  Preprocessing result;
  result.size = 64;
  return result;
}

class Attend : public testing::Test {
 protected:
  AttendResult rows(const AttendRequest& request, int size = 0) {
    return attend(card(), answers_, attend_input(slope(300, 120), preprocessing(), size), request);
  }

  Card card() const {
    Card card;
    card.spec = model_.spec();
    return card;
  }

  const Packed model_ = mini();  // stages of 16x16, 8x8, 4x4 and 2x2 tokens at 64x64 pixels
  Workspace workspace_;
  Answers answers_ = engine_answers();

 private:
  Answers engine_answers() {
    Answers answers;
    answers.rows = [this](const ImageBatch& images, const RowQuery& query) {
      return attention_row(model_, workspace_, images, query);
    };
    answers.shares = [this](const ImageBatch& images) {
      return head_shares(model_, workspace_, images);
    };
    return answers;
  }
};

TEST_F(Attend, GivesTheFirstTwoHeadsOfTheLastLayerOfStageTwoUnlessAsked) {
  const AttendResult result = rows({});
  EXPECT_EQ(result.grid, (Grid{8, 8}));
  ASSERT_EQ(result.rows.size(), 2u);
  for (int head = 1; head <= 2; ++head) {
    const AttendRow& row = result.rows[head - 1];
    EXPECT_EQ(row.stage, 2);
    EXPECT_EQ(row.layer, model_.spec().stages[1].depth);
    EXPECT_EQ(row.head, head);
    EXPECT_EQ(row.row.size(), 64u);
  }
}

TEST_F(Attend, GivesTheRowsOfTheEngine) {
  const AttendInput input = attend_input(slope(300, 120), preprocessing());
  const AttentionRows rows =
      attention_row(model_, workspace_, {input.pixels.data(), 1, input.size}, {2, 0, 5});
  AttendRequest request;
  request.x = 100, request.y = 50;  // column 1 and row 1 of 4x4
  request.stage = 3, request.layer = 1, request.head = AttendRequest::kAll;
  const AttendResult result = attend(card(), answers_, input, request);
  EXPECT_EQ(result.token, 5);
  std::vector<float> all;
  for (const AttendRow& row : result.rows) all.insert(all.end(), row.row.begin(), row.row.end());
  EXPECT_EQ(all, rows.maps.data);
  double sum = 0;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    EXPECT_EQ(result.rows[i].share, rows.shares[i]);
    sum += rows.shares[i];
  }
  EXPECT_DOUBLE_EQ(result.rows.front().layer_share, sum / static_cast<double>(rows.shares.size()));
}

// Layer 1 of stage 2 adds most, and its second head more than its first.
std::vector<HeadShare> uneven_shares(const ModelSpec& spec) {
  std::vector<HeadShare> shares;
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < spec.stages[s].depth; ++i) {
      for (int h = 0; h < spec.stages[s].heads; ++h) {
        const bool most = s == 1 && i == 0;
        shares.push_back({s + 1, i + 1, h + 1, most ? 0.5 + 0.1 * h : s == 3 ? 2 : 0.1 * h});
      }
    }
  }
  return shares;
}

TEST_F(Attend, OpensOnTheHeadThatAddsMostSoftmaxAside) {
  answers_.shares = [this](const ImageBatch&) { return uneven_shares(model_.spec()); };
  AttendRequest request;
  request.stage = AttendRequest::kBest;
  const AttendResult result = rows(request);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->stage, 2);
  EXPECT_EQ(result.best->layer, 1);
  EXPECT_EQ(result.best->head, 2);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows.front().layer, 1);
  EXPECT_EQ(result.rows.front().head, 2);
  EXPECT_EQ(to_json(result)["best"], (Json{{"stage", 2}, {"layer", 1}, {"head", 2}}));
  request.layer = request.head = AttendRequest::kAll;
  EXPECT_EQ(rows(request).rows.size(),
            size_t{1} * model_.spec().stages[1].depth * model_.spec().stages[1].heads);
  EXPECT_FALSE(to_json(rows({})).contains("best"));
}

TEST_F(Attend, OpensOnTheHeadThatTheCardNames) {
  answers_.shares = [](const ImageBatch&) -> std::vector<HeadShare> { fail("asked"); };
  Card named = card();
  named.shown = HeadPlace{3, 1, 2};
  const AttendInput input = attend_input(slope(300, 120), preprocessing());
  const HeadPlace best = best_head(named, answers_, input);
  EXPECT_EQ(best.stage, 3);
  EXPECT_EQ(best.layer, 1);
  EXPECT_EQ(best.head, 2);
}

TEST_F(Attend, OpensWhereTheEngineMeasuresTheLargestShare) {
  AttendRequest request;
  request.stage = AttendRequest::kBest;
  const AttendRow best = rows(request).rows.front();
  for (int stage = 1; stage <= 3; ++stage) {  // the fourth is softmax
    AttendRequest other;
    other.stage = stage, other.layer = other.head = AttendRequest::kAll;
    for (const AttendRow& row : rows(other).rows) {
      EXPECT_LE(row.layer_share, best.layer_share) << stage << "." << row.layer;
    }
  }
}

TEST_F(Attend, SaysWhichHeadsIdle) {
  AttendRow row;
  row.share = 0.9e-3;
  EXPECT_TRUE(row.idle());
  row.share = 1.1e-3;
  EXPECT_FALSE(row.idle());
  row.share = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(row.idle());
  AttendResult result;
  result.rows = {row};
  EXPECT_TRUE(to_json(result)["rows"][0]["share"].is_null());
}

TEST_F(Attend, FindsTheTokenUnderThePixel) {
  const auto token = [&](int x, int y) { return rows({x, y}).token; };
  EXPECT_EQ(token(0, 0), 0);
  EXPECT_EQ(token(36, 14), 0);  // a patch is 37.5 x 15 pixels of the picture
  EXPECT_EQ(token(37, 14), 1);  // its centre, 37.5, is where the second patch begins
  EXPECT_EQ(token(36, 15), 8);
  EXPECT_EQ(token(299, 119), 63);
}

TEST_F(Attend, GivesFinerMapsForALargerInput) {
  const AttendResult result = rows({299, 0}, 160);
  EXPECT_EQ(result.grid, (Grid{20, 20}));
  EXPECT_EQ(result.token, 19);
  EXPECT_EQ(result.rows.front().row.size(), 400u);
}

TEST_F(Attend, GivesEveryLayerInOrder) {
  AttendRequest request;
  request.stage = 3, request.layer = AttendRequest::kAll, request.head = 1;
  const AttendResult result = rows(request);
  ASSERT_EQ(static_cast<int>(result.rows.size()), model_.spec().stages[2].depth);
  for (size_t i = 0; i < result.rows.size(); ++i) {
    EXPECT_EQ(result.rows[i].layer, static_cast<int>(i) + 1);
  }
}

TEST_F(Attend, LeavesTheClassTokenOut) {
  AttendRequest request;
  request.stage = 4;
  const AttendResult result = rows(request);
  EXPECT_EQ(result.grid, (Grid{2, 2}));
  EXPECT_EQ(result.rows.front().row.size(), 4u);
  float sum = 0;
  for (float value : result.rows.front().row) sum += value;
  EXPECT_LT(sum, 1);  // the rest is the class token's
}

TEST_F(Attend, RefusesWhatDoesNotExist) {
  const auto complaint = [&](int x, int y, int stage, int layer, int head) {
    return error_of([&] { rows({x, y, stage, layer, head}); });
  };
  EXPECT_THAT(complaint(300, 0, 0, 0, 0), HasSubstr("300,0 is outside the picture"));
  EXPECT_THAT(complaint(0, -1, 0, 0, 0), HasSubstr("y from 0 to 119"));
  EXPECT_THAT(complaint(0, 0, 5, 0, 0), HasSubstr("stage 5 does not exist"));
  EXPECT_THAT(complaint(0, 0, -1, 0, 0), HasSubstr("choose one stage from 1 to 4"));
  EXPECT_THAT(complaint(0, 0, 2, 99, 0), HasSubstr("layer 99 does not exist"));
  EXPECT_THAT(complaint(0, 0, 2, 1, 3), HasSubstr("head 3 does not exist; choose one from 1 to 2"));
}

TEST_F(Attend, IsJsonWithAGridAndRows) {
  AttendRequest request;
  request.stage = 4, request.head = 2;
  const Json json = to_json(rows(request));
  EXPECT_EQ(json["grid"], (Json{2, 2}));
  ASSERT_EQ(json["rows"].size(), 1u);
  EXPECT_EQ(json["rows"][0]["stage"], 4);
  EXPECT_EQ(json["rows"][0]["head"], 2);
  EXPECT_EQ(json["rows"][0]["row"].size(), 4u);
}

TEST(AttendInput, RefusesAnEndlessStrip) {
  const Image longest(65'535, 1), longer(1, 65'536);
  EXPECT_EQ(attend_input(longest, preprocessing(), 0).picture, (Grid{1, 65'535}));
  EXPECT_THAT(error_of([&] { attend_input(longer, preprocessing(), 0); }),
              HasSubstr("1x65536 pixels; attend takes sides of up to 65535"));
}

}  // namespace
}  // namespace soft
