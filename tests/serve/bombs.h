// Small bodies that make much work.
#pragma once

#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
// clang-format off
#include <jpeglib.h>  // needs FILE
// clang-format on

namespace soft::test {

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

inline std::string png_chunk(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return big_endian(static_cast<uint32_t>(content.size())) + body +
         big_endian(static_cast<uint32_t>(sum));
}

// One pixel wide, interlaced: every row is gone over seven times.
inline std::string png_strip(uint32_t height) {
  const std::string rows(size_t{2} * height, '\0');
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big_endian(1) + big_endian(height) + std::string("\x08\0\0\0\x01", 5)) +
         png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

// A flat progressive picture whose last scan is repeated.
inline std::string jpeg_of_scans(int side, int repeats) {
  jpeg_error_mgr errors;
  jpeg_compress_struct info;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = info.image_height = static_cast<JDIMENSION>(side);
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row(side, 128);
  JSAMPROW line = row.data();
  for (int y = 0; y < side; ++y) jpeg_write_scanlines(&info, &line, 1);
  jpeg_finish_compress(&info);
  const std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  const size_t last = file.rfind("\xff\xda");
  std::string all = file.substr(0, last);
  for (int i = 0; i < repeats; ++i) all += file.substr(last, file.size() - 2 - last);
  return all + "\xff\xd9";
}

inline std::string json_bomb() {
  std::string text = R"({"image":[{})";
  for (int i = 0; i < 160'000; ++i) text += ",{}";
  return text + "]}";
}

}  // namespace soft::test
