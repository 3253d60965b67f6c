#include "study/pointing.h"

#include <gmock/gmock.h>

#include "support/support.h"

namespace soft {
namespace {

constexpr int kSize = 32, kPatch = 4, kSide = kSize / kPatch, kTokens = kSide * kSide;
constexpr int64_t kPictures = 60;

ModelSpec flat_spec() {
  ModelSpec spec = find_model("vit-small-384x12");
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"image_size", "32"},
                                                        {"patch", "4"},
                                                        {"dims", "96"},
                                                        {"heads", "3"},
                                                        {"depths", "2"},
                                                        {"ratios", "2"},
                                                        {"classes", "5"}}) {
    set_field(spec, key, value);
  }
  return spec;
}

bool covers(const std::vector<float>& mask, int64_t token) {
  const int64_t top = token / kSide * kPatch, left = token % kSide * kPatch;
  for (int64_t y = top; y < top + kPatch; ++y) {
    for (int64_t x = left; x < left + kPatch; ++x) {
      if (mask[y * kSize + x] > 0.5F) return true;
    }
  }
  return false;
}

// A model whose second layer's third head joins the cue and its object, one way or the other; all
// its other heads look at the first object.
Answers model_that_looks(bool from_cue) {
  Answers answers;
  auto next = std::make_shared<int64_t>(0);      // picture of this batch, 50 at a time
  auto previous = std::make_shared<int64_t>(0);  // token: a smaller one means the next batch
  answers.rows = [=](const ImageBatch& images, const RowQuery& query) {
    if (query.token < *previous) *next += 50;
    *previous = query.token;
    AttentionRows rows;
    rows.maps.shape = {images.count, 6, kTokens};
    for (int64_t i = 0; i < images.count; ++i) {
      const CuePicture picture = draw_cue({kSize, 0}, Split::kValidation, *next + i);
      const auto& object = picture.masks[picture.right];
      for (int head = 0; head < 6; ++head) {
        for (int64_t token = 0; token < kTokens; ++token) {
          const auto& from = from_cue ? picture.cue : object;
          const auto& to = from_cue ? object : picture.cue;
          const bool seen = head == 5 ? covers(from, query.token) && covers(to, token)
                                      : covers(picture.masks[0], token);
          rows.maps.data.push_back(seen ? 1 : 0);
        }
      }
    }
    return rows;
  };
  return answers;
}

TEST(Pointing, FindsTheHeadThatLooksFromTheCueToItsObject) {
  const std::vector<Pointing> heads =
      pointing(flat_spec(), {}, model_that_looks(true), Split::kValidation, kPictures);
  ASSERT_EQ(heads.size(), 6u);
  EXPECT_EQ(heads[5].layer, 2);
  EXPECT_EQ(heads[5].head, 3);
  EXPECT_EQ(heads[5].from_cue, 100);
  EXPECT_EQ(heads[5].to_cue, 0);     // the objects' rows are zeros
  EXPECT_LT(heads[0].from_cue, 60);  // the first object is right in a quarter of the pictures
  EXPECT_EQ(heads[0].to_cue, 0);
}

TEST(Pointing, FindsTheHeadThatLooksFromTheObjectToTheCue) {
  const std::vector<Pointing> heads =
      pointing(flat_spec(), {}, model_that_looks(false), Split::kValidation, kPictures);
  EXPECT_EQ(heads[5].to_cue, 100);
  EXPECT_EQ(heads[5].from_cue, 0);  // the cue's rows are zeros
}

}  // namespace
}  // namespace soft
