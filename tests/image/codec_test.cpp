#include "image/codec.h"

#include <zlib.h>

#include <cmath>

#include "base/error.h"
#include "image/odd_jpeg.h"
#include "image/odd_png.h"
#include "image/odd_webp.h"
#include "image/picture.h"

namespace soft {
namespace {

using test::complaint;
using test::decode;
using testing::HasSubstr;

void expect_pixels(const Image& image, const test::Blocks& rgb) {
  ASSERT_EQ(image.grid(), (Grid{rgb.height(), rgb.width()}));
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::vector<uint8_t> found(image.pixel(x, y), image.pixel(x, y) + 3);
      ASSERT_EQ(found, rgb.at(x, y)) << x << ", " << y;
    }
  }
}

TEST(Decode, GivesTheBytesOfPillow) {
  test::for_each_row("decode.txt", [](std::istream& row) {
    std::string file, hash;
    int width = 0, height = 0;
    row >> file >> width >> height >> hash;
    const Image image = read_image(std::string(SOFT_SOURCE_DIR) + "/" + file);
    EXPECT_EQ(image.grid(), (Grid{height, width}));
    EXPECT_EQ(test::hash_of(image), hash);
  });
}

TEST(DecodeJpeg, OfEveryCodingGivesTheSamePixels) {
  const test::Blocks blocks = test::six_colours();
  for (const bool progressive : {false, true}) {
    for (const bool arithmetic : {false, true}) {
      for (const int restart : {0, 2}) {
        expect_pixels(
            decode(test::jpeg_of(blocks, {JCS_RGB, JCS_RGB, progressive, arithmetic, restart})),
            blocks);
      }
    }
  }
}

TEST(DecodeJpeg, RepeatsGrey) {
  const test::Blocks grey{2, {{0}, {255}, {99}, {128}}};
  const test::Blocks rgb{2, {{0, 0, 0}, {255, 255, 255}, {99, 99, 99}, {128, 128, 128}}};
  expect_pixels(decode(test::jpeg_of(grey, {JCS_GRAYSCALE, JCS_GRAYSCALE})), rgb);
}

TEST(DecodeJpeg, TakesInksAsInverted) {
  const test::Blocks inks{
      2, {{255, 0, 100, 255}, {255, 255, 255, 0}, {40, 80, 120, 128}, {1, 2, 254, 200}}};
  test::Blocks rgb{2, {}};
  for (const auto& ink : inks.colours) {
    rgb.colours.emplace_back();
    for (int c = 0; c < 3; ++c) {
      rgb.colours.back().push_back(static_cast<uint8_t>(std::lround(ink[c] * ink[3] / 255.0)));
    }
  }
  expect_pixels(decode(test::jpeg_of(inks, {JCS_CMYK, JCS_CMYK})), rgb);
}

TEST(DecodeJpeg, ReadsInksStoredAsLumaAndChroma) {  // greys pass through that conversion exactly
  const test::Blocks inks{2, {{50, 50, 50, 255}, {255, 255, 255, 9}}};
  const test::Blocks rgb{2, {{50, 50, 50}, {9, 9, 9}}};
  expect_pixels(decode(test::jpeg_of(inks, {JCS_CMYK, JCS_YCCK})), rgb);
}

TEST(DecodeJpeg, StepsOverJunkBetweenMarkersWithoutAWord) {
  std::string file = test::jpeg_of(test::six_colours(), {});
  const size_t tables = file.find("\xff\xdb");
  file.insert(tables, "junk!");
  testing::internal::CaptureStderr();
  expect_pixels(decode(file), test::six_colours());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(DecodeJpeg, RefusesEndlessScans) {
  const std::string file = test::jpeg_of(test::six_colours(), {JCS_RGB, JCS_RGB, true});
  const size_t last = file.rfind("\xff\xda");
  std::string scans;
  for (int i = 0; i < 1000; ++i) scans += file.substr(last, file.size() - 2 - last);
  EXPECT_THAT(complaint(file.substr(0, last) + scans + "\xff\xd9"), HasSubstr("100 scans"));
}

TEST(DecodeWebp, GivesLosslessPixelsBack) {
  const Image image = test::noise(21, 13);
  EXPECT_EQ(decode(test::lossless_webp(image)).rgb, image.rgb);
}

TEST(Decode, NamesFormatsThatItDoesNotRead) {
  using namespace std::string_literals;
  const std::pair<const char*, std::string> files[] = {{"GIF", "GIF89a"s},
                                                       {"BMP", "BM\x8a\0"s},
                                                       {"PPM", "P6\n2 2\n255\n"s},
                                                       {"TIFF", "II*\0"s},
                                                       {"TIFF", "MM\0*"s},
                                                       {"HEIC",
                                                        "\0\0\0\x18"
                                                        "ftypheic"s},
                                                       {"AVIF",
                                                        "\0\0\0\x1c"
                                                        "ftypavif"s},
                                                       {"ICO", "\0\0\1\0\1\0"s},
                                                       {"JPEG 2000", "\0\0\0\x0cjP  \r\n\x87\n"s},
                                                       {"JPEG XL", "\xff\x0a"s},
                                                       {"PSD", "8BPS"s},
                                                       {"SVG", "<svg xmlns="s},
                                                       {"PDF", "%PDF-1.4"s}};
  for (const auto& [name, bytes] : files) {
    EXPECT_EQ(complaint(bytes),
              "'x': unsupported format " + std::string(name) + " (JPEG, PNG and WebP are read)");
  }
}

TEST(Decode, OfSomethingElseSaysSo) {
  EXPECT_EQ(complaint("this is not an image\n"),
            "'x': not a picture (JPEG, PNG and WebP are read)");
  EXPECT_EQ(complaint("P"), "'x': not a picture (JPEG, PNG and WebP are read)");
  EXPECT_EQ(complaint(""), "'x': empty file");
  EXPECT_EQ(complaint(std::string((20 << 20) + 1, '\0')),
            "'x': 20971521 bytes are more than the 20971520 that are read; make it smaller");
}

// Each claims more pixels than allowed; none has them. Memory for them would be 100 MB to 30 GB.
TEST(Decode, RefusesHugePicturesBeforeTakingMemory) {
  std::string png = test::png_of({}, 1, 1);
  png.replace(16, 8, std::string("\0\1\x86\xa0\0\1\x86\xa0", 8));
  png.replace(29, 4, "\x27\x30\x9c\x9f");  // the checksum of that header
  EXPECT_THAT(complaint(png), HasSubstr("'x': 100000x100000 pixels are more than"));

  std::string jpeg = test::jpeg_of(test::six_colours(), {});
  jpeg.replace(jpeg.find("\xff\xc0") + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_THAT(complaint(jpeg), HasSubstr("'x': 65500x65500 pixels are more than"));

  std::string webp = test::lossless_webp(test::noise(2, 2));
  webp.replace(webp.find("VP8L") + 9, 4, "\xff\xff\xff\x0f");  // twice 14 bits of size less one
  EXPECT_THAT(complaint(webp), HasSubstr("'x': 16384x16384 pixels are more than"));
}

TEST(ReadImage, SaysWhatIsWrongWithAPath) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(test::error_of([&] { read_image(folder.path("absent.png")); }),
              testing::AllOf(HasSubstr("absent.png'"), HasSubstr("No such file")));
  EXPECT_THAT(test::error_of([&] { read_image(folder.path()); }),
              HasSubstr("is not a regular file"));
  test::write_file(folder.path("empty.jpg"), "");
  EXPECT_THAT(test::error_of([&] { read_image(folder.path("empty.jpg")); }),
              HasSubstr("empty.jpg': empty file"));
}

TEST(ReadImage, TellsTheFormatByContentNotByName) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("picture.jpg");
  const test::PngKind kind;
  test::write_file(path, test::png_of(kind, 5, 4));
  EXPECT_EQ(read_image(path).rgb, test::pixels_of(kind, 5, 4).rgb);
}

TEST(EncodePng, GivesThePictureBack) {
  for (const auto& [width, height] : {std::pair{1, 1}, {37, 23}, {224, 3}}) {
    const Image image = test::noise(width, height);
    const std::vector<uint8_t> file = encode_png(image);
    EXPECT_EQ(decode_image(file.data(), file.size(), "x").rgb, image.rgb);
  }
}

TEST(EncodeJpeg, StaysCloseToThePicture) {
  const Image image = read_image(test::photo("astronaut.png"));
  const std::vector<uint8_t> file = encode_jpeg(image, 95);
  EXPECT_LT(file.size(), image.rgb.size() / 6);
  const Image back = decode_image(file.data(), file.size(), "x");
  double sum = 0;
  for (size_t i = 0; i < image.rgb.size(); ++i) sum += std::abs(image.rgb[i] - back.rgb[i]);
  EXPECT_LT(sum / static_cast<double>(image.rgb.size()), 3);
}

TEST(Encode, RefusesAnEmptyPicture) {
  EXPECT_THAT(test::error_of([] { encode_png({}); }), HasSubstr("0x0"));
  EXPECT_THAT(test::error_of([] { encode_jpeg({}); }), HasSubstr("0x0"));
}

// ---- What a picture may cost

std::string interlaced(int width, int height) {
  test::PngKind kind;
  kind.interlaced = true;
  return test::png_of(kind, width, height);
}

std::string refusal(const std::string& file, const DecodeLimits& limits) {
  return test::error_of([&] { decode(file, {false, limits}); });
}

TEST(DecodeLimits, RefuseALongSideManyPixelsAndMuchWork) {
  const std::string plain = test::png_of({}, 30, 20), woven = interlaced(30, 20);
  DecodeLimits limits;
  limits.work = 6 * 600;
  EXPECT_EQ(decode(plain, {false, limits}).width, 30);
  EXPECT_THAT(refusal(woven, limits), HasSubstr("7 passes over 30x20 pixels"));
  limits.pixels = 599;
  EXPECT_THAT(refusal(plain, limits),
              HasSubstr("more than the 599 that are read; make it smaller"));
  limits.side = 29;
  EXPECT_THAT(refusal(plain, limits), HasSubstr("a side may have 29; make it smaller"));
  limits.flags = true;
  EXPECT_THAT(refusal(plain, limits), HasSubstr("(--max-side)"));
}

TEST(DecodeLimits, RefuseScansThatAreTooManyOrTooMuchWork) {
  const test::Blocks blocks = test::six_colours();
  const std::string file = test::jpeg_of(blocks, {JCS_RGB, JCS_RGB, true});
  DecodeLimits limits;
  limits.flags = true;
  limits.scans = 3;
  EXPECT_THAT(refusal(file, limits),
              AllOf(HasSubstr("more than 3 scans"), HasSubstr("--max-scans")));
  limits.scans = 100;
  limits.work = int64_t{4} * blocks.width() * blocks.height();
  EXPECT_THAT(refusal(file, limits),
              AllOf(HasSubstr("more than 4 scans"), HasSubstr("--max-decode-work")));
}

TEST(DecodeLimits, EndTheWorkWhenNobodyWaitsForIt) {
  DecodeLimits limits;
  limits.given_up = [] { return true; };
  for (const std::string& file :
       {test::png_of({}, 30, 20), test::jpeg_of(test::six_colours(), {JCS_RGB, JCS_RGB, true})}) {
    EXPECT_THAT(refusal(file, limits), HasSubstr("not decoded in time"));
  }
}

// A side of 89 million pixels in an interlaced file of 174 KB took 24 seconds.
TEST(DecodeLimits, NoSideIsLongerThanAnyoneNeeds) {
  std::string file = interlaced(1, 1);
  const uint32_t side = 1'000'001;
  for (int i = 0; i < 4; ++i) file[20 + i] = static_cast<char>(side >> (24 - 8 * i));
  const auto crc =
      static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.data()) + 12, 17));
  for (int i = 0; i < 4; ++i) file[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  EXPECT_THAT(complaint(file), HasSubstr("a side may have 1000000"));
}

TEST(AnnouncedWork, CountsPassesAndScans) {
  const auto work = [](const std::string& file) {
    return announced_work(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  };
  const test::Blocks blocks = test::six_colours();
  const int64_t pixels = int64_t{blocks.width()} * blocks.height();
  EXPECT_EQ(work(test::png_of({}, 30, 20)), 600);
  EXPECT_EQ(work(interlaced(30, 20)), 4200);
  EXPECT_EQ(work(test::jpeg_of(blocks, {})), pixels);
  const std::string progressive = test::jpeg_of(blocks, {JCS_RGB, JCS_RGB, true});
  EXPECT_GT(work(progressive), 4 * pixels);
  for (size_t length = 0; length < progressive.size(); ++length)
    work(progressive.substr(0, length));
  EXPECT_EQ(work("no picture"), 0);
  // 16-bit RGB and alpha, and WebP that may be all tables.
  std::string deep = test::png_of({}, 30, 20);
  deep[24] = 16, deep[25] = 6;
  EXPECT_EQ(work(deep), 3 * 600);
  const std::string lossless = test::lossless_webp(Image(30, 20));
  EXPECT_GE(work(lossless), 600 + 100 * static_cast<int64_t>(lossless.size()));
  EXPECT_EQ(work(""), 0);
}

}  // namespace
}  // namespace soft
