// PNGs of every kind, whole and damaged.
#include "base/error.h"
#include "image/codec.h"
#include "image/odd_png.h"
#include "image/picture.h"

namespace soft {
namespace {

using test::complaint;
using test::decode;
using testing::HasSubstr;

TEST(DecodePng, OfEveryKindGivesTheSamePixels) {
  const std::pair<int, std::vector<int>> kinds[] = {{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
                                                    {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
                                                    {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
                                                    {PNG_COLOR_TYPE_RGB, {8, 16}},
                                                    {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
  for (const auto& [colour, depths] : kinds) {
    for (const int depth : depths) {
      for (const bool interlaced : {false, true}) {
        for (const bool transparency : {false, true}) {
          if (transparency && (colour & PNG_COLOR_MASK_ALPHA) != 0) continue;
          SCOPED_TRACE(testing::Message() << colour << " " << depth << " " << interlaced);
          const test::PngKind kind{colour, depth, interlaced, transparency, "", ""};
          const Image image = decode(test::png_of(kind, 37, 19));
          EXPECT_EQ(image.grid(), (Grid{19, 37}));
          EXPECT_EQ(image.rgb, test::pixels_of(kind, 37, 19).rgb);
        }
      }
    }
  }
}

// 16 bits of grey and nothing else: 0, 1, 255, 256, 0x1234 and white.
TEST(DecodePng, CutsWideGreyOffAt255AsPillowDoes) {
  EXPECT_EQ(decode(test::read_file(test::golden("image/grey16.png"))).rgb,
            (std::vector<uint8_t>{0, 0, 0, 1, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                  255, 255, 255}));
}

TEST(DecodePng, ForgivesEveryChecksumButThoseOfHeaderAndPalette) {
  const test::PngKind kind;
  const std::string file = test::png_of(kind, 9, 7);
  const auto pixels = test::pixels_of(kind, 9, 7).rgb;
  EXPECT_EQ(decode(test::with_chunk(file, "tIME", std::string(7, '\1'), "IDAT", 1)).rgb, pixels);
  EXPECT_EQ(decode(test::with_chunk(file, "tEXt", "a", "IEND", 1)).rgb, pixels);
  std::string pixels_checksum = file;
  pixels_checksum[file.find("IEND") - 5] ^= 1;
  EXPECT_EQ(decode(pixels_checksum).rgb, pixels);
  std::string header_checksum = file;
  header_checksum[file.find("IHDR") + 4 + 13] ^= 1;
  EXPECT_THAT(complaint(header_checksum), HasSubstr("damaged PNG"));
}

TEST(DecodePng, DoesNotUnpackTexts) {
  test::PngKind kind;
  kind.compressed_text.assign(30 << 20, 'a');
  EXPECT_EQ(decode(test::png_of(kind, 3, 2)).rgb, test::pixels_of(kind, 3, 2).rgb);
}

}  // namespace
}  // namespace soft
