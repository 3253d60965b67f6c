// Pictures and numbers of callers.
#include "facade/input.h"

#include "api/inside.h"
#include "image/codec.h"

namespace soft {
namespace {

std::shared_ptr<const Picture::Pixels> keep(Image image) {
  return std::make_shared<const Picture::Pixels>(Picture::Pixels{std::move(image)});
}

Image copied(const uint8_t* rgb, int64_t width, int64_t height) {
  if (rgb == nullptr || width < 1 || height < 1) {
    fail_usage("a picture of {}x{} pixels has none; give at least one", width, height);
  }
  if (width > kMaxImagePixels / height) {
    fail_usage("a picture of {}x{} pixels is too large; at most {} are taken", width, height,
               kMaxImagePixels);
  }
  Image image(static_cast<int>(width), static_cast<int>(height));
  std::copy(rgb, rgb + image.rgb.size(), image.rgb.data());
  return image;
}

}  // namespace

Picture::Picture(std::shared_ptr<const Pixels> pixels) : pixels_(std::move(pixels)) {}
Picture::Picture(const uint8_t* rgb, int64_t width, int64_t height)
    : Picture(keep(copied(rgb, width, height))) {}

Picture Picture::read(const std::string& path) {
  return answered([&] { return Picture(keep(read_image(path, {true}))); });
}

Picture Picture::decode(const void* bytes, size_t size) {
  return Picture(
      keep(decode_image(static_cast<const uint8_t*>(bytes), size, "the picture", {true})));
}

int64_t Picture::width() const { return pixels_->image.width; }
int64_t Picture::height() const { return pixels_->image.height; }

Input::Input(const Picture& picture) : pictures{picture} {}
Input::Input(std::initializer_list<Picture> several) : Input(std::vector<Picture>(several)) {}
Input::Input(std::vector<Picture> several) : pictures(std::move(several)) {
  if (pictures.empty()) fail_usage("no picture is given; a model reads at least one");
}

Input::Input(const Tensor& normalised) {
  const std::vector<int64_t>& shape = normalised.shape;
  check_shape(shape, "the tensor");
  int64_t left = static_cast<int64_t>(normalised.data.size());
  for (const int64_t side : shape) left = side > 0 && left % side == 0 ? left / side : 0;
  if (left != 1) {
    fail_usage("the tensor is {} and holds {} values; they must be as many", shape_text(shape),
               normalised.data.size());
  }
  *this = Input(normalised.data.data(), shape[0], shape[2], shape[3]);
}

Input::Input(const float* normalised, int64_t of, int64_t high, int64_t wide)
    : values(normalised), count(of), height(high), width(wide) {
  if (values == nullptr || count < 1) {
    fail_usage("a batch of {} pictures cannot run; give at least one", values ? count : 0);
  }
}

}  // namespace soft
