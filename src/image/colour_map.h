// Colours for signed numbers: dark at zero, warm and ever lighter above it, cool and ever lighter
// below it. Equal steps of the number are equal steps in Oklab, a colour space made for even
// perception, so that no edge shows where the numbers have none.
#pragma once

#include <array>
#include <cstdint>

namespace soft {

using Colour = std::array<uint8_t, 3>;  // sRGB

Colour heat_colour(float value);  // from -1 to 1; beyond that the colours at the ends

}  // namespace soft
