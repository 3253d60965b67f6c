// Which file format bytes are, told by their first few, never by a file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace soft {

enum class Format { kJpeg, kPng, kWebp, kUnsupported };

struct FormatName {
  Format format = Format::kUnsupported;
  std::string_view name;  // "GIF", "HEIC", …; empty when the bytes are of no known picture format
};

FormatName format_of(const uint8_t* bytes, size_t size);

}  // namespace soft
