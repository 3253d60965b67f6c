// The order in which people count: "class2" before "class10", upper and lower case alike.
#pragma once

#include <string_view>

namespace soft {

// Names equal in that sense ("a1", "A01") fall back to their bytes, so the order is total.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace soft
