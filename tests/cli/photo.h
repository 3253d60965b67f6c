// A picture that every command can be asked about.
#pragma once

#include <string>

namespace soft {

inline const std::string kCat = SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png";  // 451 x 300

}  // namespace soft
