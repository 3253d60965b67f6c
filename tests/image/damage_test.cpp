// Files cut off at every byte and damaged at every byte: a picture or an Error of one line, never a
// crash, a leak (the sanitizer build watches) or a word on stderr.
#include "base/error.h"
#include "base/random.h"
#include "image/odd_jpeg.h"
#include "image/odd_png.h"
#include "image/odd_webp.h"
#include "image/picture.h"

namespace soft {
namespace {

struct Kind {
  const char* name;
  std::string file;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto jpeg = [](J_COLOR_SPACE colours, bool progressive, bool arithmetic) {
    const size_t components = colours == JCS_CMYK ? 4 : 3;
    const test::Blocks blocks{
        2, {std::vector<uint8_t>(components, 9), std::vector<uint8_t>(components, 200)}};
    return test::jpeg_of(blocks, {colours, colours, progressive, arithmetic});
  };
  const auto png = [](int colour, int depth, bool interlaced) {
    return test::png_of({colour, depth, interlaced, false, "", "text"}, 9, 7);
  };
  all.push_back({"Jpeg", jpeg(JCS_RGB, false, false)});
  all.push_back({"JpegProgressive", jpeg(JCS_RGB, true, false)});
  all.push_back({"JpegArithmetic", jpeg(JCS_RGB, false, true)});
  all.push_back({"JpegCmyk", jpeg(JCS_CMYK, false, false)});
  all.push_back({"Png", png(PNG_COLOR_TYPE_RGB, 8, false)});
  all.push_back({"PngInterlaced16", png(PNG_COLOR_TYPE_RGB_ALPHA, 16, true)});
  all.push_back({"PngPalette", png(PNG_COLOR_TYPE_PALETTE, 4, false)});
  all.push_back({"WebpLossless", test::lossless_webp(test::noise(9, 7))});
  all.push_back({"WebpExtended", test::webp_with_exif(all.back().file, 9, 7, "II*")});
  for (const char* name : {"lossy.webp", "lossy_alpha.webp", "animated.webp"}) {
    all.push_back({name, test::read_file(test::golden(std::string("image/") + name))});
  }
  return all;
}

// Whether it decodes; an error must name the file and fit one line.
bool decodes(const std::string& file) {
  try {
    const Image image = decode_image(reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                                     "odd.file", {true});
    EXPECT_EQ(image.rgb.size(), size_t{3} * image.width * image.height);
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("'odd.file': ", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return false;
  }
}

class Damage : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Damage, testing::ValuesIn(kinds()), [](const auto& info) {
  std::string name = info.param.name;
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }),
             name.end());
  return name;
});

TEST_P(Damage, AFileCutOffAnywhereBeforeItsPixelsEndIsAnError) {
  const std::string& file = GetParam().file;
  ASSERT_TRUE(decodes(file));
  testing::internal::CaptureStderr();
  size_t shortest = file.size();
  while (shortest > 0 && decodes(file.substr(0, shortest - 1))) --shortest;
  for (size_t size = 0; size + 1 < shortest; ++size) {
    EXPECT_FALSE(decodes(file.substr(0, size))) << size << " of " << file.size() << " bytes";
  }
  EXPECT_GT(shortest, file.size() / 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(Damage, AnyWrongByteGivesAPictureOrAnError) {
  const std::string& file = GetParam().file;
  testing::internal::CaptureStderr();
  Random random(1);
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 + random.below(255)));
    decodes(damaged);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace soft
