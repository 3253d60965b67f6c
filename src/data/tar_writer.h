// Writes tar archives in POSIX's ustar format. Equal content makes equal archives: no times, no
// owners.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace soft {

// At most 100 characters of name. Returns the bytes it took.
int64_t write_tar_member(std::ostream& out, const std::string& name, std::string_view content);

void write_tar_end(std::ostream& out);

}  // namespace soft
