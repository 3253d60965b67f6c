// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <string>

namespace soft {

// Bytes that can be had without swapping: what the system calls available, or less where a control
// group allows less. The largest number there is when neither is known.
int64_t available_memory();

std::string bytes_text(double bytes);  // "3.2 GB"

}  // namespace soft
