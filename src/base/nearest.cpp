#include "base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace soft {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

namespace {

// Distances beyond this are other words, not typos.
int bound(std::string_view name) { return std::max<int>(2, static_cast<int>(name.size()) / 3); }

// A part of a longer name is meant for it, too: "kernels" for "value_kernels".
bool is_part(std::string_view name, std::string_view candidate) {
  return name.size() >= 4 && candidate.find(name) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> near_names(std::string_view name,
                                         const std::vector<std::string_view>& candidates) {
  std::vector<std::pair<int, std::string_view>> found;
  for (std::string_view candidate : candidates) {
    if (name.size() > 2 * candidate.size() + 2) continue;  // too long to be a typo of it
    const int distance = edit_distance(name, candidate);
    if (distance <= bound(name)) {
      found.push_back({distance, candidate});
    } else if (is_part(name, candidate)) {
      found.push_back({bound(name) + 1, candidate});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 3); ++i) names.push_back(found[i].second);
  return names;
}

std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  const auto names = near_names(name, candidates);
  return names.empty() ? "" : std::string(names[0]);
}

std::string hint(std::string_view name, const std::vector<std::string_view>& candidates) {
  const auto names = near_names(name, candidates);
  if (names.empty()) return "";
  std::string text = fmt::format("'{}'", names[0]);
  for (size_t i = 1; i < names.size(); ++i) {
    text += fmt::format("{} '{}'", i + 1 == names.size() ? " or" : ",", names[i]);
  }
  return fmt::format(" (did you mean {}?)", text);
}

}  // namespace soft
