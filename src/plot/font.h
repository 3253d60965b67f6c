// A font of strokes: enough for the words in a chart, in a file of pixels, without a font file.
#pragma once

#include <string>
#include <vector>

#include "plot/drawing.h"

namespace soft {

// The pen's paths for a line of text in pixels, baseline at y = 0, starting at x = 0. Bytes outside
// of ASCII are drawn as '?', once for each character of UTF-8.
std::vector<std::vector<Point>> text_strokes(const std::string& text, double size);
double text_width(const std::string& text, double size);

}  // namespace soft
