// The JSON header of a safetensors file:
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
//    "__metadata__": {"key": "text", …}}
// Read as a stream of events, so that a hostile header of 100 MB costs neither a tree in memory nor
// quadratic time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weights/weights.h"

namespace soft {

struct HeaderEntry {
  DType type = DType::kF32;
  std::vector<int64_t> shape;
  int64_t begin = 0;  // bytes from the start of the data
  int64_t end = 0;
};

struct Header {
  std::map<std::string, HeaderEntry> tensors;
  std::map<std::string, std::string> metadata;
};

Header parse_header(std::string_view text);

}  // namespace soft
