// Do these tensors make this model?
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/npy.h"
#include "weights/dtype.h"
#include "weights/weights.h"

namespace soft {
namespace {

std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const auto end = names.begin() + static_cast<ptrdiff_t>(std::min(kShown, names.size()));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

struct Misfit {
  std::vector<std::string> missing;
  std::vector<std::string> unknown;
  std::vector<std::string> wrong;

  bool none() const { return missing.empty() && unknown.empty() && wrong.empty(); }
  std::string text() const {
    std::vector<std::string> parts;
    if (!missing.empty()) parts.push_back("missing " + some_of(missing));
    if (!unknown.empty()) parts.push_back("unknown " + some_of(unknown));
    if (!wrong.empty()) parts.push_back(some_of(wrong));
    return fmt::format("{}", fmt::join(parts, "; "));
  }
};

Misfit compare(const Weights& weights, const std::vector<TensorShape>& wanted) {
  Misfit misfit;
  std::set<std::string_view> known;
  for (const TensorShape& tensor : wanted) {
    known.insert(tensor.name);
    const auto found = weights.tensors.find(tensor.name);
    if (found == weights.tensors.end()) {
      misfit.missing.push_back(tensor.name);
    } else if (found->second.shape != tensor.shape) {
      misfit.wrong.push_back(fmt::format("{} is {}, not {}", tensor.name,
                                         shape_text(found->second.shape),
                                         shape_text(tensor.shape)));
    } else if (!is_floating(found->second.type)) {
      misfit.wrong.push_back(
          fmt::format("{} holds {} values", tensor.name, name_of(found->second.type)));
    }
  }
  for (const auto& [name, view] : weights.tensors) {
    if (known.count(name) == 0) misfit.unknown.push_back(name);
  }
  return misfit;
}

}  // namespace

void check_fit(const Weights& weights, const ModelSpec& spec) {
  const Misfit misfit = compare(weights, tensors_of(spec));
  if (misfit.none()) return;
  fail("the tensors of '{}' are not those of {}: {}", weights.path, spec.name, misfit.text());
}

}  // namespace soft
