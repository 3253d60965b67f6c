// WebP through libwebp: the still picture, or the first frame of an animation on its canvas.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "base/error.h"
#include "image/decoder.h"

namespace soft {
namespace {

void check_status(VP8StatusCode status, const std::string& name) {
  if (status == VP8_STATUS_OK) return;
  if (status == VP8_STATUS_NOT_ENOUGH_DATA) fail("'{}': truncated WebP", name);
  if (status == VP8_STATUS_OUT_OF_MEMORY) fail("'{}': no memory to read a WebP", name);
  fail("'{}': damaged WebP (code {})", name, static_cast<int>(status));
}

// Decodes one frame with its upper left corner at (left, top) of the canvas, which must hold it.
void decode_onto(Image& canvas, int left, int top, const ImageBytes& frame) {
  WebPDecoderConfig config;
  WebPInitDecoderConfig(&config);
  const int stride = 3 * canvas.width;
  uint8_t* begin = canvas.pixel(left, top);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {begin, stride,
                          static_cast<size_t>(canvas.rgb.data() + canvas.rgb.size() - begin)};
  check_status(WebPDecode(frame.data, frame.size, &config), frame.name);
}

// Outside the first frame the canvas is transparent black, hence black.
void decode_first_frame(Image& canvas, const ImageBytes& file) {
  const WebPData data{file.data, file.size};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> demuxer(WebPDemux(&data),
                                                                         WebPDemuxDelete);
  WebPIterator frame;
  if (!demuxer || !WebPDemuxGetFrame(demuxer.get(), 1, &frame)) {
    fail("'{}': truncated or damaged WebP animation", file.name);
  }
  const std::unique_ptr<WebPIterator, decltype(&WebPDemuxReleaseIterator)> release(
      &frame, WebPDemuxReleaseIterator);
  if (frame.x_offset + frame.width > canvas.width ||
      frame.y_offset + frame.height > canvas.height) {
    fail("'{}': damaged WebP (its first frame is larger than its canvas)", file.name);
  }
  decode_onto(canvas, frame.x_offset, frame.y_offset,
              {frame.fragment.bytes, frame.fragment.size, file.name, file.limits});
}

}  // namespace

Image decode_webp(const ImageBytes& file) {
  WebPBitstreamFeatures features;
  check_status(WebPGetFeatures(file.data, file.size, &features), file.name);
  check_size(features.width, features.height, file);
  check_work(features.width, features.height, 1, file);
  Image image(features.width, features.height);
  if (features.has_animation) {
    decode_first_frame(image, file);
  } else {
    decode_onto(image, 0, 0, file);
  }
  return image;
}

}  // namespace soft
