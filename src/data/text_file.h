// Pieces of a plain file, read when they are wanted and never more of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace soft {

struct TextPlace {
  uint64_t offset = 0, size = 0;
};

class TextFile {
 public:
  explicit TextFile(const std::string& path);  // Error where it is missing, compressed or no file

  const std::string& path() const { return path_; }
  std::string read(const TextPlace& place,
                   uint64_t most) const;  // its first bytes, from any thread

 private:
  std::string path_;
  Descriptor file_;
};

// The first bytes of a file. What is no UTF-8 is an Error; a character may be cut at the end.
std::string read_text_start(const std::string& path, uint64_t most);

}  // namespace soft
