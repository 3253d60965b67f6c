// PNG through libpng: everything becomes 8-bit RGB, alpha dropped. Of 16 bits the high byte is
// taken; in grey pictures without alpha, as Pillow has it, the value itself, 255 where it is
// larger. Of the chunks around the pixels only palette and transparency are read, so compressed
// texts and profiles cannot blow up. Checksums of what stands before the pixels must be right, or
// the chunk is not needed; those of the pixels are not looked at, since zlib has its own and Pillow
// does the same.
#include <png.h>

#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "image/codec.h"
#include "image/decoder.h"

namespace soft {
namespace {

constexpr int kRowsBetweenQuestions = 64;

class Reader {
 public:
  explicit Reader(const ImageBytes& file)
      : file_(file), name_(file.name), next_(file.data), left_(file.size) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, give_up, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) fail("'{}': no memory to read a PNG", name_);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void read_header() {
    attempt([&] {
      png_set_read_fn(png_, this, copy_bytes);
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size knows better
      png_read_info(png_, info_);
    });
  }

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  int passes() const {
    return png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1
                                                                     : PNG_INTERLACE_ADAM7_PASSES;
  }

  // What follows the last row is not looked at: the picture is complete.
  void read_pixels(Image& image) {
    const bool wide_grey = png_get_bit_depth(png_, info_) == 16 &&
                           png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY;
    attempt([&] {
      png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
      if (!wide_grey) become_rgb();
      const int passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
      for (int pass = 0; pass < passes; ++pass) {
        for (int y = 0; y < image.height; ++y) {
          const bool asks = y % kRowsBetweenQuestions == 0 && file_.limits.given_up != nullptr;
          given_up_ = asks && file_.limits.given_up();
          if (given_up_) std::longjmp(escape_, 1);
          png_read_row(png_, image.pixel(0, y), nullptr);
        }
      }
    });
    if (wide_grey) {
      for (int y = 0; y < image.height; ++y) clip_grey(image.pixel(0, y), image.width);
    }
  }

 private:
  void become_rgb() {
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
  }

  // In place, from the right: a row of two bytes a pixel becomes one of three.
  static void clip_grey(uint8_t* row, int width) {
    for (int64_t x = width - 1; x >= 0; --x) {
      const uint8_t level = row[2 * x] == 0 ? row[2 * x + 1] : 255;
      std::memset(row + 3 * x, level, 3);
    }
  }

  static void give_up(png_structp png, png_const_charp message) {
    auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
    std::snprintf(reader->message_, sizeof(reader->message_), "%s", message);
    std::longjmp(reader->escape_, 1);
  }

  static void ignore(png_structp, png_const_charp) {}

  static void copy_bytes(png_structp png, png_bytep out, size_t count) {
    auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
    reader->truncated_ = count > reader->left_;
    if (reader->truncated_) std::longjmp(reader->escape_, 1);
    std::memcpy(out, reader->next_, count);
    reader->next_ += count;
    reader->left_ -= count;
  }

  template <class Body>
  void attempt(const Body& body) {
    if (completes(escape_, body)) return;
    if (given_up_) fail_given_up(file_);
    if (truncated_) fail("'{}': truncated PNG", name_);
    fail("'{}': damaged PNG ({})", name_, message_);
  }

  const ImageBytes& file_;
  const std::string& name_;
  const uint8_t* next_;
  size_t left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  jmp_buf escape_;
  char message_[128] = "";
  bool truncated_ = false;
  bool given_up_ = false;
};

}  // namespace

Image decode_png(const ImageBytes& file) {
  Reader reader(file);
  reader.read_header();
  check_size(reader.width(), reader.height(), file);
  check_work(reader.width(), reader.height(), reader.passes(), file);
  Image image(reader.width(), reader.height());
  reader.read_pixels(image);
  return image;
}

std::vector<uint8_t> encode_png(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> bytes(PNG_IMAGE_PNG_SIZE_MAX(header));
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr)) {
    fail("cannot write a PNG of {}x{} ({})", image.width, image.height, header.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace soft
