// A training run as a picture: losses above, accuracy below.
#pragma once

#include <string>

#include "plot/drawing.h"

namespace soft {

// From the text of a run's log.csv.
Drawing curve_of(const std::string& log);

}  // namespace soft
