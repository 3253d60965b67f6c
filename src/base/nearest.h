// "Did you mean …": the known names closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace soft {

int edit_distance(std::string_view a, std::string_view b);

// At most three candidates, the closest first: typos of each other, and names that contain this
// one.
std::vector<std::string_view> near_names(std::string_view name,
                                         const std::vector<std::string_view>& candidates);

// The closest candidate, or "" when none is close enough to be a plausible typo.
std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates);

// " (did you mean 'x', 'y' or 'z'?)", or "" when nothing is near: ready to append to an error.
std::string hint(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace soft
