// JPEG files of kinds that cameras do not write, made with libjpeg itself. Pictures of flat 8x8
// blocks survive quality 100 exactly, so their pixels are known without asking another decoder.
#pragma once

// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdlib>
#include <string>
#include <vector>

namespace soft::test {

struct JpegKind {
  J_COLOR_SPACE given = JCS_RGB, stored = JCS_RGB;
  bool progressive = false, arithmetic = false;
  int restart_interval = 0;
};

// Row-major flat blocks, each one `colour` of as many components as `given` has.
struct Blocks {
  int across = 3;
  std::vector<std::vector<uint8_t>> colours;

  int width() const { return 8 * across; }
  int height() const { return 8 * static_cast<int>(colours.size()) / across; }
  const std::vector<uint8_t>& at(int x, int y) const { return colours[y / 8 * across + x / 8]; }
};

inline std::string jpeg_of(const Blocks& blocks, const JpegKind& kind) {
  jpeg_error_mgr errors;
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = blocks.width();
  info.image_height = blocks.height();
  info.input_components = static_cast<int>(blocks.colours[0].size());
  info.in_color_space = kind.given;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, kind.stored);
  jpeg_set_quality(&info, 100, TRUE);
  for (int i = 0; i < info.num_components; ++i) {
    info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  }
  info.arith_code = kind.arithmetic;
  info.restart_interval = kind.restart_interval;
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < blocks.height(); ++y) {
    std::vector<uint8_t> row;
    for (int x = 0; x < blocks.width(); ++x) {
      row.insert(row.end(), blocks.at(x, y).begin(), blocks.at(x, y).end());
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(bytes, bytes + size);
  std::free(bytes);
  return file;
}

inline Blocks six_colours() {
  return {3, {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 20, 30}, {200, 100, 50}, {7, 77, 177}}};
}

// A marker segment for the place right after the first two bytes.
inline std::string with_segment(const std::string& jpeg, int marker, const std::string& content) {
  const size_t length = content.size() + 2;
  std::string segment{'\xff', static_cast<char>(marker), static_cast<char>(length >> 8),
                      static_cast<char>(length & 255)};
  return jpeg.substr(0, 2) + segment + content + jpeg.substr(2);
}

}  // namespace soft::test
