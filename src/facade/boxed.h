// The model in the box: trained weights that come with the program, used where --weights is left
// out.
#pragma once

#include <string>

namespace soft {

// Their path; an Error says what to do when they are not where the program looks for them.
std::string boxed_weights();

}  // namespace soft
