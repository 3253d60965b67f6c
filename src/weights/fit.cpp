// Do these tensors make this model?
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/npy.h"
#include "describe/description.h"
#include "weights/dtype.h"
#include "weights/int8.h"
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

// Statistics are few and cheap to look at, and a bad one poisons every picture: batch norm divides
// by the root of the variance. "" when there is nothing wrong.
std::string bad_statistic(const TensorShape& tensor, const TensorView& view) {
  if (view.data == nullptr || tensor.kind != TensorKind::kStatistic) return "";
  const bool variance = tensor.start == Start::kOnes;
  for (const float value : to_floats(view)) {
    if (!std::isfinite(value) || (variance && value < 0)) {
      return fmt::format("{} holds {}", tensor.name, value);
    }
  }
  return "";
}

// Sides of 1 at the end may be left out: kernels along a sequence were once stored as [h, 1, k, 1].
bool same_shape(std::vector<int64_t> stored, const std::vector<int64_t>& wanted) {
  while (stored.size() > wanted.size() && stored.back() == 1) stored.pop_back();
  return stored == wanted;
}

Misfit compare(const Weights& weights, const std::vector<TensorShape>& wanted) {
  Misfit misfit;
  std::set<std::string> known;
  for (const TensorShape& tensor : wanted) {
    known.insert(tensor.name);
    const auto found = weights.tensors.find(tensor.name);
    if (found == weights.tensors.end()) {
      misfit.missing.push_back(tensor.name);
    } else if (!same_shape(found->second.shape, tensor.shape)) {
      misfit.wrong.push_back(fmt::format("{} is {}, not {}", tensor.name,
                                         shape_text(found->second.shape),
                                         shape_text(tensor.shape)));
    } else if (is_int8(weights, tensor.name)) {
      for (std::string& name : int8_companions(weights, tensor.name)) known.insert(std::move(name));
      if (auto defect = int8_defect(weights, tensor.name); !defect.empty()) {
        misfit.wrong.push_back(std::move(defect));
      }
    } else if (!is_floating(found->second.type)) {
      misfit.wrong.push_back(
          fmt::format("{} holds {} values", tensor.name, name_of(found->second.type)));
    } else if (auto defect = bad_statistic(tensor, found->second); !defect.empty()) {
      misfit.wrong.push_back(std::move(defect));
    }
  }
  for (const auto& [name, view] : weights.tensors) {
    if (known.count(name) == 0) misfit.unknown.push_back(name);
  }
  return misfit;
}

}  // namespace

void check_fit(const Weights& weights, const std::vector<TensorShape>& wanted,
               const std::string& model) {
  const Misfit misfit = compare(weights, wanted);
  if (misfit.none()) return;
  fail("the tensors of '{}' are not those of {}: {}", weights.path, model, misfit.text());
}

void check_fit(const Weights& weights, const ModelSpec& spec) {
  check_fit(weights, tensors_of(spec), spec.name);
}

}  // namespace soft
