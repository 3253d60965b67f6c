// Parts of the program that are opened when they are first needed: shared libraries beside this
// one.
#pragma once

#include <string>

namespace soft {

// Where it is; "" when it is not there.
std::string wing_path(const std::string& library);

// Opens it and finds its entry point; an Error says what to do when it is missing, or was not made
// together with this library (wing/stamp.h).
void* wing_entry(const std::string& library, const char* entry);

}  // namespace soft
