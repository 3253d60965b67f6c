#include "image/contact_sheet.h"

#include <algorithm>
#include <set>

#include "image/text.h"
#include "support/support.h"

namespace soft {
namespace {

Image filled(int width, int height, uint8_t shade) {
  Image image(width, height);
  std::fill(image.rgb.begin(), image.rgb.end(), shade);
  return image;
}

TEST(Text, HasADifferentGlyphForEveryCharacterOfAscii) {
  std::set<std::vector<uint8_t>> seen;
  for (char c = ' '; c <= '~'; ++c) {
    Image image = filled(6, 8, 255);
    draw_text(image, {0, 0}, std::string(1, c), 1);
    EXPECT_TRUE(seen.insert(image.rgb).second) << c;
  }
}

TEST(Text, IsCutAtTheEdgesAndShowsForeignBytesAsQuestionMarks) {
  Image image = filled(20, 7, 255), expected = image;
  draw_text(image, {-3, 0}, "\xe2?", 2);
  draw_text(expected, {-3, 0}, "??", 2);
  EXPECT_EQ(image.rgb, expected.rgb);
  draw_text(image, {18, 5}, "wide", 3);  // the sanitizers watch
  EXPECT_EQ(text_width("abc", 2), 36);
}

TEST(ContactSheet, PutsEveryPrintInItsPlaceWithTheCaptionBelow) {
  const std::vector<std::vector<Print>> rows{
      {{filled(40, 30, 10), {"a"}}, {filled(40, 30, 20), {"b"}}}, {{filled(40, 30, 30), {}}}};
  const Image sheet = contact_sheet(rows);
  const int gap = 4, line = 10;
  ASSERT_EQ(sheet.width, 2 * 40 + 3 * gap);
  ASSERT_EQ(sheet.height, 2 * (30 + line) + 3 * gap);
  EXPECT_EQ(sheet.pixel(gap, gap)[0], 10);
  EXPECT_EQ(sheet.pixel(gap + 40 + gap + 39, gap + 29)[0], 20);
  EXPECT_EQ(sheet.pixel(gap, gap + 30 + line + gap)[0], 30);
  EXPECT_EQ(sheet.pixel(0, 0)[0], 255);
  EXPECT_EQ(sheet.pixel(gap + 40 + gap, gap + 30 + line + gap)[0], 255);  // no print there
  const uint8_t* caption = sheet.pixel(0, gap + 30);
  EXPECT_LT(*std::min_element(caption, caption + 3 * sheet.width * line), 100);
}

TEST(ContactSheet, CutsCaptionsThatAreTooLong) {
  const Image sheet =
      contact_sheet({{{filled(20, 20, 0), {std::string(99, '#')}}, {filled(20, 20, 0), {}}}});
  for (int y = 24; y < sheet.height; ++y) EXPECT_EQ(sheet.pixel(30, y)[0], 255);
}

TEST(ContactSheet, RefusesToBeTooLargeToBeReadAgain) {
  std::vector<Print> row(100);  // free places are as large as the others
  row.front().image = filled(1000, 1000, 0);
  EXPECT_THAT(test::error_of([&] { contact_sheet({row}); }), testing::HasSubstr("smaller"));
}

}  // namespace
}  // namespace soft
