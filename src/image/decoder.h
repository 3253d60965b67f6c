// The format readers behind decode_image, and what they share.
#pragma once

#include <csetjmp>
#include <string>

#include "image/codec.h"
#include "image/image.h"

namespace soft {

struct ImageBytes {
  const uint8_t* data;
  size_t size;
  const std::string& name;  // for errors
  const DecodeLimits& limits;
};

Image decode_jpeg(const ImageBytes& file);
Image decode_png(const ImageBytes& file);
Image decode_webp(const ImageBytes& file);

// An Error when the picture is empty or larger than the limits; called before memory is taken.
void check_size(int64_t width, int64_t height, const ImageBytes& file);

// An Error when going over all pixels this often is more work than the limits allow.
void check_work(int64_t width, int64_t height, int times, const ImageBytes& file);

// The error of work that took too long for whoever waits for it.
[[noreturn]] void fail_given_up(const ImageBytes& file);

// libjpeg and libpng leave through longjmp when they give up. Runs `body` and says whether it came
// to its end. A jump skips destructors, so `body` must own nothing: every object with a destructor
// lives outside.
template <class Body>
bool completes(jmp_buf& escape, const Body& body) {
  if (setjmp(escape) != 0) return false;
  body();
  return true;
}

}  // namespace soft
