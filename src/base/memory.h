// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <string>

namespace soft {

// Bytes that can be had without swapping: the least of what the system calls available, what the
// process's control group and every group around it leave (version 1 or 2; what only caches files
// counts as free, since the kernel gives it up first), and what the process's own limits leave
// (`ulimit -v`, `ulimit -d`). The largest number there is when nothing is known.
// `root` stands before /proc and /sys, for tests.
int64_t available_memory(const std::string& root = "");

std::string bytes_text(double bytes);  // "3.2 GB"

}  // namespace soft
