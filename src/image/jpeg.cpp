// JPEG through libjpeg-turbo. Like Pillow, which never trusts a file that ends early, and unlike
// djpeg, a missing end is an error; damage inside that the library can step over is not.

// clang-format off
#include <cstdio>  // for the next one
#include <jpeglib.h>
// clang-format on

#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "image/codec.h"
#include "image/decoder.h"

namespace soft {
namespace {

struct Failure {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is a pointer to this
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = "";
  bool truncated = false;

  Failure() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr info) {
      auto* failure = reinterpret_cast<Failure*>(info->err);
      failure->manager.format_message(info, failure->message);
      std::longjmp(failure->escape, 1);
    };
    manager.output_message = [](j_common_ptr) {};  // warnings stay silent
  }
};

boolean report_truncation(j_decompress_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  failure->truncated = true;
  std::longjmp(failure->escape, 1);
}

struct Progress {
  jpeg_progress_mgr manager{};  // first, as above
  const ImageBytes* file = nullptr;
  bool given_up = false;
};

// Called for every row of blocks. A progressive file may repeat scans over the whole picture
// without end.
void limit_work(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  auto* progress = reinterpret_cast<Progress*>(info->progress);
  const auto* picture = reinterpret_cast<j_decompress_ptr>(info);
  const DecodeLimits& limits = progress->file->limits;
  const int scans = picture->input_scan_number;
  progress->given_up = limits.given_up != nullptr && limits.given_up();
  if (progress->given_up) std::longjmp(failure->escape, 1);
  const int64_t pixels = int64_t{picture->image_width} * picture->image_height;
  const bool by_number = scans > limits.scans;
  if (!by_number && scans * pixels <= limits.work) return;
  std::snprintf(failure->message, sizeof(failure->message), "more than %d scans of %lld pixels%s",
                scans - 1, static_cast<long long>(pixels),
                !limits.flags ? ""
                : by_number   ? "; --max-scans"
                              : "; --max-decode-work");
  std::longjmp(failure->escape, 1);
}

class Reader {
 public:
  explicit Reader(const ImageBytes& file) : file_(file), name_(file.name) {
    info_.err = &failure_.manager;
    progress_.manager.progress_monitor = limit_work;
    progress_.file = &file_;
    attempt([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, file.data, file.size);
      info_.src->fill_input_buffer = report_truncation;
      info_.progress = &progress_.manager;
      jpeg_read_header(&info_, TRUE);
    });
  }

  int width() const { return static_cast<int>(info_.image_width); }
  int height() const { return static_cast<int>(info_.image_height); }
  int components() const { return info_.num_components; }

  // Calls row(y), which says where row y goes, and done(y) when it is there.
  template <class Row, class Done>
  void read(J_COLOR_SPACE colours, const Row& row, const Done& done) {
    attempt([&] {
      info_.out_color_space = colours;
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        const int y = static_cast<int>(info_.output_scanline);
        JSAMPROW out = row(y);
        jpeg_read_scanlines(&info_, &out, 1);
        done(y);
      }
      jpeg_finish_decompress(&info_);
    });
  }

 private:
  struct Decompressor : jpeg_decompress_struct {
    Decompressor() : jpeg_decompress_struct() {}
    ~Decompressor() { jpeg_destroy_decompress(this); }
  };

  template <class Body>
  void attempt(const Body& body) {
    if (completes(failure_.escape, body)) return;
    if (progress_.given_up) fail_given_up(file_);
    if (failure_.truncated) fail("'{}': truncated JPEG", name_);
    fail("'{}': damaged or unsupported JPEG ({})", name_, failure_.message);
  }

  const ImageBytes& file_;
  const std::string& name_;
  Failure failure_;
  Progress progress_;
  Decompressor info_;
};

// round(a*b/255)
int scale255(int a, int b) {
  const int product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

// Four-component files hold inverted inks (Adobe's convention; Pillow assumes it of all of them).
void convert_cmyk(const uint8_t* cmyk, int pixels, uint8_t* rgb) {
  for (int i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const int light = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(light - scale255(255 - cmyk[c], light));
    }
  }
}

}  // namespace

Image decode_jpeg(const ImageBytes& file) {
  Reader reader(file);
  check_size(reader.width(), reader.height(), file);
  Image image(reader.width(), reader.height());
  if (reader.components() == 4) {
    std::vector<uint8_t> inks(size_t{4} * image.width);
    reader.read(
        JCS_CMYK, [&](int) { return inks.data(); },
        [&](int y) { convert_cmyk(inks.data(), image.width, image.pixel(0, y)); });
  } else {
    reader.read(
        JCS_RGB, [&](int y) { return image.pixel(0, y); }, [](int) {});
  }
  return image;
}

std::vector<uint8_t> encode_jpeg(const Image& image, int quality) {
  Failure failure;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_compress_struct info{};
  info.err = &failure.manager;
  const bool complete = completes(failure.escape, [&] {
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      auto* row = const_cast<uint8_t*>(image.pixel(0, static_cast<int>(info.next_scanline)));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  jpeg_destroy_compress(&info);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owned(bytes, std::free);
  if (!complete) {
    fail("cannot write a JPEG of {}x{} ({})", image.width, image.height, failure.message);
  }
  return {bytes, bytes + size};
}

}  // namespace soft
