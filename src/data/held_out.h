// Which examples are kept for validation where a set does not say it: a part of each class.
#pragma once

#include <cstdint>
#include <vector>

namespace soft {

// Places of the examples that are held out, or of the others, in their order; always the same for
// the same labels. A class keeps at least one example to learn from.
std::vector<int64_t> held_out_places(const std::vector<int>& labels, int64_t classes,
                                     double fraction, bool held);

}  // namespace soft
