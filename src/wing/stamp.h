// Both sides of the door to the torch wing carry a stamp, the version and a checksum of the headers
// that lay out what crosses it. Structs of one layout read with another would be silent nonsense.
#pragma once

#include <string>

namespace soft {

std::string own_stamp();  // of this side: "0.2.0 1a2b3c4d5e6f"

// The stamp inside the file of a wing, which is read and not run; "" when it has none.
std::string stamp_in(const std::string& path);

// An Error that names both, unless they agree.
void check_stamp(const std::string& path);

}  // namespace soft
