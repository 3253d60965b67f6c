// A terminal's line that is still being rewritten, as progress is: a log line must erase it first.
#pragma once

#include <atomic>

namespace soft {

constexpr const char* kEraseLine = "\r\033[K";  // back to the margin, erase what is there

std::atomic<bool>& open_line();  // of stderr, of the whole process

}  // namespace soft
