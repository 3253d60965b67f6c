// Pictures: JPEG, PNG and WebP with their EXIF data, through the one decode function.
#include "fuzz/fuzz.h"
#include "image/codec.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::attempt([&] {
    const Image image = decode_image(data, size, "input", {true});
    fuzz::require(image.width > 0 && image.height > 0 && image.grid().size() <= kMaxImagePixels &&
                      image.rgb.size() == 3 * static_cast<size_t>(image.grid().size()),
                  "a picture has all its pixels");
  });
  return 0;
}
