// Sizes on the command line: of pictures, "224" or "224x320", height first, and of files, "1GB".
#pragma once

#include <cstdint>
#include <string>

#include "base/grid.h"

namespace soft {

Grid parse_size(const std::string& text);  // a usage error when it is neither

// "1GB", "500 MB", "64kb" or a number of bytes; a kB is 1,000 bytes.
int64_t parse_bytes(const std::string& text);

}  // namespace soft
