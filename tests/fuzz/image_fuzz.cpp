// Pictures: JPEG, PNG and WebP with their EXIF data, through the one decode function. Most inputs
// may announce small pictures alone, or all the time goes into the pixels of a few; one in 32, told
// by its last byte, may be as large as any.
#include "fuzz/fuzz.h"
#include "image/codec.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  DecodeOptions options{true, {}};
  if (size > 0 && data[size - 1] % 32 != 7) options.limits.pixels = 1 << 14;
  fuzz::attempt([&] {
    const Image image = decode_image(data, size, "input", options);
    fuzz::require(image.width > 0 && image.height > 0 && image.grid().size() <= kMaxImagePixels &&
                      image.rgb.size() == 3 * static_cast<size_t>(image.grid().size()),
                  "a picture has all its pixels");
  });
  return 0;
}
