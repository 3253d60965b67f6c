// Charts as files: .svg or .png, by the name's ending.
#pragma once

#include <string>

#include "plot/drawing.h"

namespace soft {

// Refuses other endings, and paths that cannot become a file, before the work begins.
void check_chart_file(const std::string& path);
void write_chart(const std::string& path, const Drawing& drawing);

}  // namespace soft
