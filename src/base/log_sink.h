// Where log lines go, for a program that must never wait for whoever reads its stderr.
#pragma once

#include <functional>
#include <string>

namespace soft {

// Hands lines to somebody else from now on, who may be asked from any thread; nullptr: back to
// stderr.
void set_log_sink(std::function<void(const std::string& line)> sink);

}  // namespace soft
