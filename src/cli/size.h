// Sizes on the command line: "224" or "224x320", height first.
#pragma once

#include <string>

#include "base/grid.h"

namespace soft {

Grid parse_size(const std::string& text);  // a usage error when it is neither

}  // namespace soft
