// Captions on pictures, in one small built-in typeface of five by eight dots.
#pragma once

#include <string>

#include "image/heat_map.h"
#include "image/image.h"

namespace soft {

// `scale` is the side of a dot in pixels.
int text_width(const std::string& text, int scale);
int text_height(int scale);

// Dark on whatever is there, its upper left corner at a pixel; what leaves the picture is cut off.
// Bytes outside ASCII become question marks.
void draw_text(Image& image, Pixel at, const std::string& text, int scale);

}  // namespace soft
