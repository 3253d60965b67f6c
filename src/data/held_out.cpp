#include "data/held_out.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace soft {

// Class by class, so that rare classes are validated, too.
std::vector<int64_t> held_out_places(const std::vector<int>& labels, int64_t classes,
                                     double fraction, bool held) {
  std::vector<std::vector<int64_t>> members(classes);
  for (size_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(static_cast<int64_t>(i));
  std::vector<int64_t> chosen;
  for (size_t label = 0; label < members.size(); ++label) {
    const auto size = static_cast<int64_t>(members[label].size());
    const auto wanted = std::max<int64_t>(1, std::llround(fraction * static_cast<double>(size)));
    const int64_t count = std::min(wanted, size - 1);
    const auto order = Random(0, {label}).permutation(size);
    for (int64_t k = 0; k < size; ++k) {
      if ((k < count) == held) chosen.push_back(members[label][order[k]]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace soft
