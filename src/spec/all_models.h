// Every name that find_model knows: SOFT's own frames, then the zoo's.
#pragma once

#include <string_view>
#include <vector>

namespace soft {

std::vector<std::string_view> all_model_names();

}  // namespace soft
