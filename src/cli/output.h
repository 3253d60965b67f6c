// Files a command is asked to write.
#pragma once

#include <string>

namespace soft {

// Refuses a path that cannot become a file, before the work that would fill it begins.
void check_output(const std::string& path);

}  // namespace soft
