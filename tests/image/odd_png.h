// PNG files of every colour type and depth, made with libpng itself, with the RGB pixels they mean.
#pragma once

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "image/image.h"

namespace soft::test {

struct PngKind {
  int colour = PNG_COLOR_TYPE_RGB;
  int depth = 8;
  bool interlaced = false;
  bool transparency = false;  // a tRNS chunk
  std::string exif;
  std::string compressed_text;
};

inline int channels_of(int colour) {
  switch (colour) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return 1;
  }
}

// Any number will do, so long as neighbours differ; of 16 bits every third leaves the high byte
// zero.
inline int sample_at(const PngKind& kind, int x, int y, int channel) {
  const int sample = (x * 7919 + y * 104729 + channel * 31337 + x * y * 13) % (1 << kind.depth);
  return (x + y) % 3 == 0 ? sample & 255 : sample;
}

inline png_color palette_colour(int index) {
  return {static_cast<png_byte>(index * 37), static_cast<png_byte>(255 - index),
          static_cast<png_byte>(index * 11 + 5)};
}

// What an 8-bit RGB reader should see.
inline Image pixels_of(const PngKind& kind, int width, int height) {
  Image image(width, height);
  const bool grey = channels_of(kind.colour) < 3;
  const int top = (1 << kind.depth) - 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      uint8_t* out = image.pixel(x, y);
      for (int c = 0; c < 3; ++c) {
        const int sample = sample_at(kind, x, y, grey ? 0 : c);
        out[c] = static_cast<uint8_t>(kind.depth == 16 ? sample >> 8 : sample * 255 / top);
        if (kind.depth == 16 && kind.colour == PNG_COLOR_TYPE_GRAY) {  // as Pillow has it
          out[c] = static_cast<uint8_t>(std::min(sample, 255));
        }
      }
      if (kind.colour == PNG_COLOR_TYPE_PALETTE) {
        const png_color colour = palette_colour(sample_at(kind, x, y, 0));
        out[0] = colour.red, out[1] = colour.green, out[2] = colour.blue;
      }
    }
  }
  return image;
}

inline std::vector<uint8_t> png_row(const PngKind& kind, int width, int y) {
  std::vector<uint8_t> row;
  for (int x = 0; x < width; ++x) {
    for (int c = 0; c < channels_of(kind.colour); ++c) {
      const int sample = sample_at(kind, x, y, c);
      if (kind.depth == 16) row.push_back(static_cast<uint8_t>(sample >> 8));
      row.push_back(static_cast<uint8_t>(sample & 255));
    }
  }
  return row;
}

inline void set_extras(png_structp png, png_infop info, const PngKind& kind) {
  if (kind.colour == PNG_COLOR_TYPE_PALETTE) {
    const int count = 1 << kind.depth;
    png_color palette[256];
    for (int i = 0; i < count; ++i) palette[i] = palette_colour(i);
    png_set_PLTE(png, info, palette, count);
  }
  if (kind.transparency) {
    png_byte alpha[] = {0, 128};
    png_color_16 colour{0, 1, 1, 1, 1};
    png_set_tRNS(png, info, alpha, 2, &colour);
  }
  if (!kind.exif.empty()) {
    std::string exif = kind.exif;
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()),
                   reinterpret_cast<png_bytep>(exif.data()));
  }
  if (!kind.compressed_text.empty()) {
    std::string key = "Comment", text = kind.compressed_text;
    png_text chunk{};
    chunk.compression = PNG_TEXT_COMPRESSION_zTXt;
    chunk.key = key.data();
    chunk.text = text.data();
    chunk.text_length = text.size();
    png_set_text(png, info, &chunk, 1);
  }
}

// The file with one more chunk, before the pixels or behind them; `damage` goes into its checksum.
inline std::string with_chunk(const std::string& file, const std::string& kind,
                              const std::string& data, const char* before = "IDAT",
                              uint32_t damage = 0) {
  const auto big_endian = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
    return bytes;
  };
  const std::string body = kind + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  std::string whole = file;
  whole.insert(file.find(before) - 4, big_endian(static_cast<uint32_t>(data.size())) + body +
                                          big_endian(static_cast<uint32_t>(sum) ^ damage));
  return whole;
}

inline std::string deflated(const std::string& text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  return packed;
}

inline std::string png_of(const PngKind& kind, int width, int height) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto append = [](png_structp self, png_bytep bytes, size_t count) {
    static_cast<std::string*>(png_get_io_ptr(self))
        ->append(reinterpret_cast<const char*>(bytes), count);
  };
  png_set_write_fn(png, &file, append, nullptr);
  png_set_IHDR(png, info, width, height, kind.depth, kind.colour,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  set_extras(png, info, kind);
  png_write_info(png, info);
  png_set_packing(png);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass) {
    for (int y = 0; y < height; ++y) png_write_row(png, png_row(kind, width, y).data());
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace soft::test
