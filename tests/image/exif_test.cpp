#include "image/exif.h"

#include "image/odd_jpeg.h"
#include "image/odd_png.h"
#include "image/odd_webp.h"
#include "image/picture.h"

namespace soft {
namespace {

using test::decode;

const std::string kPrefix("Exif\0\0", 6);

// A TIFF structure with a width tag before the orientation.
std::string exif(int orientation, bool big) {
  const auto number = [big](int value, int bytes) {
    std::string text = test::little_endian(value, bytes);
    if (big) std::reverse(text.begin(), text.end());
    return text;
  };
  const auto entry = [&](int tag, int value) {
    return number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + number(0, 2);
  };
  return (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(2, 2) + entry(0x100, 640) +
         entry(0x112, orientation) + number(0, 4);
}

std::string jpeg_with(const std::string& exif) {
  return test::with_segment(test::jpeg_of(test::six_colours(), {}), 0xe1, kPrefix + exif);
}

int orientation_of(Format format, const std::string& file) {
  return exif_orientation(format, reinterpret_cast<const uint8_t*>(file.data()), file.size());
}

TEST(Exif, OrientationIsFoundInEveryFormatAndByteOrder) {
  const Image image = test::noise(5, 3);
  const std::string webp = test::lossless_webp(image);
  for (int value = 1; value <= 8; ++value) {
    for (const bool big : {false, true}) {
      const std::string data = exif(value, big);
      EXPECT_EQ(orientation_of(Format::kJpeg, jpeg_with(data)), value);
      test::PngKind png;
      png.exif = data;
      EXPECT_EQ(orientation_of(Format::kPng, test::png_of(png, 5, 3)), value);
      for (const std::string& prefix : {std::string(), kPrefix}) {
        const std::string file = test::webp_with_exif(webp, 5, 3, prefix + data);
        EXPECT_EQ(orientation_of(Format::kWebp, file), value);
        EXPECT_EQ(decode(file, {false}).rgb, image.rgb);
      }
    }
  }
}

std::string hexadecimal(const std::string& bytes) {
  std::string text = "\nexif\n      " + std::to_string(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 36 == 0) text += '\n';
    text += "0123456789abcdef"[static_cast<uint8_t>(bytes[i]) >> 4];
    text += "0123456789abcdef"[static_cast<uint8_t>(bytes[i]) & 15];
  }
  return text + '\n';
}

std::string xmp(const std::string& orientation) {
  return "<x:xmpmeta><rdf:Description xmlns:tiff='t' " + orientation + "/></x:xmpmeta>";
}

const std::string kEnd(1, '\0');

TEST(Exif, OrientationOfAPngIsFoundWherePillowFindsIt) {
  const std::string plain = test::png_of({}, 5, 3);
  const std::string raw = "Raw profile type exif" + kEnd, name = "XML:com.adobe.xmp" + kEnd;
  const std::string two(2, '\0'), packed = std::string(1, '\1') + kEnd;
  for (int value = 1; value <= 8; ++value) {
    const std::string hex = hexadecimal(kPrefix + exif(value, true));
    const std::string digit = std::to_string(value);
    const std::string attribute = xmp("tiff:Orientation=\"" + digit + "\"");
    const std::string element = "<tiff:Orientation>" + digit + "</tiff:Orientation>";
    for (const char* place : {"IDAT", "IEND"}) {
      SCOPED_TRACE(place + digit);
      const auto found = [&](const std::string& kind, const std::string& data) {
        return orientation_of(Format::kPng, test::with_chunk(plain, kind, data, place));
      };
      EXPECT_EQ(found("eXIf", kPrefix + exif(value, false)), value);
      EXPECT_EQ(found("tEXt", raw + hex), value);
      EXPECT_EQ(found("zTXt", raw + kEnd + test::deflated(hex)), value);
      EXPECT_EQ(found("iTXt", name + two + two + attribute), value);
      EXPECT_EQ(found("iTXt", name + two + "en" + kEnd + "Name" + kEnd + xmp(element)), value);
      EXPECT_EQ(found("iTXt", name + packed + two + test::deflated(attribute)), value);
      EXPECT_EQ(found("tEXt", "Comment" + kEnd + attribute), 1);
    }
  }
}

TEST(Exif, OfAPngCountsBeforeXmpAndTheChunkBeforeTheText) {
  const std::string xmp_text = "XML:com.adobe.xmp" + std::string(5, '\0');
  const std::string three = xmp_text + "tiff:Orientation=\"3\"";
  const auto of = [&](const std::string& file) { return orientation_of(Format::kPng, file); };
  const std::string turned = test::with_chunk(test::png_of({}, 5, 3), "iTXt", three);
  EXPECT_EQ(of(turned), 3);
  const std::string raw = "Raw profile type exif" + kEnd;
  const std::string text = test::with_chunk(turned, "tEXt", raw + hexadecimal(exif(6, true)));
  EXPECT_EQ(of(text), 6);
  EXPECT_EQ(of(test::with_chunk(text, "eXIf", exif(8, false))), 8);
  EXPECT_EQ(of(test::with_chunk(text, "eXIf", exif(9, false))), 1) << "it is said, and nonsense";
  EXPECT_EQ(of(test::with_chunk(turned, "tEXt", raw + "\n\n\n4d4")), 3) << "half a byte";
}

TEST(Exif, ATextThatUnpacksToMuchIsNotFollowed) {
  const std::string raw = "Raw profile type exif" + std::string(2, '\0');
  std::string hex = hexadecimal(exif(6, true));
  hex.append(size_t{2} << 20, '\n');
  const std::string file =
      test::with_chunk(test::png_of({}, 5, 3), "zTXt", raw + test::deflated(hex));
  EXPECT_EQ(orientation_of(Format::kPng, file), 1);
}

// Where the first pixel of the stored picture (upper left) and the second of its first row appear.
TEST(Exif, EveryOrientationStandsUpright) {
  Image stored(3, 2);
  for (size_t i = 0; i < 6; ++i) stored.rgb[3 * i] = static_cast<uint8_t>(i);
  // Stored:  0 1 2
  //          3 4 5
  const std::vector<std::vector<int>> rows[9] = {
      {},
      {{0, 1, 2}, {3, 4, 5}},
      {{2, 1, 0}, {5, 4, 3}},
      {{5, 4, 3}, {2, 1, 0}},
      {{3, 4, 5}, {0, 1, 2}},
      {{0, 3}, {1, 4}, {2, 5}},
      {{3, 0}, {4, 1}, {5, 2}},
      {{5, 2}, {4, 1}, {3, 0}},
      {{2, 5}, {1, 4}, {0, 3}},
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const auto& expected = rows[orientation];
    const Image image = upright(stored, orientation);
    ASSERT_EQ(image.grid(), (Grid{static_cast<int64_t>(expected.size()),
                                  static_cast<int64_t>(expected[0].size())}));
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) EXPECT_EQ(*image.pixel(x, y), expected[y][x]);
    }
  }
}

TEST(Exif, IsObeyedOnlyWhenAsked) {
  const std::string file = jpeg_with(exif(6, true));
  EXPECT_EQ(decode(file, {false}).grid(), (Grid{16, 24}));
  const Image turned = decode(file, {true});
  EXPECT_EQ(turned.grid(), (Grid{24, 16}));
  EXPECT_EQ(turned.rgb, upright(decode(file, {false}), 6).rgb);
}

TEST(Exif, OutOfRangeOrOfAnotherTypeIsIgnored) {
  EXPECT_EQ(orientation_of(Format::kJpeg, jpeg_with(exif(0, true))), 1);
  EXPECT_EQ(orientation_of(Format::kJpeg, jpeg_with(exif(9, false))), 1);
  std::string other_type = exif(6, false);
  other_type[other_type.find("\x12\x01") + 2] = 5;
  EXPECT_EQ(orientation_of(Format::kJpeg, jpeg_with(other_type)), 1);
}

TEST(Exif, CutOffAnywhereLeavesThePictureAlone) {
  const std::string whole = exif(6, true);
  const Image expected = decode(jpeg_with(""), {false});
  for (size_t size = 0; size + 8 < whole.size(); ++size) {  // up to the value itself
    const Image image = decode(jpeg_with(whole.substr(0, size)), {true});
    EXPECT_EQ(image.rgb, expected.rgb) << size;
  }
}

TEST(Exif, WithEveryByteDamagedNeverHurts) {
  const std::string whole = exif(6, false);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int damage : {0x00, 0x7f, 0xff}) {
      std::string data = whole;
      data[i] = static_cast<char>(damage);
      const int orientation = orientation_of(Format::kJpeg, jpeg_with(data));
      EXPECT_GE(orientation, 1);
      EXPECT_LE(orientation, 8);
    }
  }
}

}  // namespace
}  // namespace soft
