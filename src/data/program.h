// Runs another program and waits for it: no shell, so no argument is ever interpreted.
#pragma once

#include <string>
#include <vector>

namespace soft {

// Runs argv in `folder`, its output going to stderr. An Error says when it is missing (`cure` tells
// what to do then) or fails.
void run_program(const std::vector<std::string>& argv, const std::string& folder,
                 const std::string& cure);

}  // namespace soft
