#include "spec/names.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"

namespace soft {

using Names = std::vector<std::string_view>;

const Names& names_of(Mechanism) {
  static const Names names{"soft",          "soft-norm",        "soft-dense", "softmax",
                           "gaussian",      "gaussian-softmax", "linformer",  "performer",
                           "nystromformer", "reformer",         "none"};
  return names;
}

const Names& names_of(Sampler) {
  static const Names names{"conv", "avg", "random", "biased"};
  return names;
}

const Names& names_of(Inverse) {
  static const Names names{"newton", "newton-adaptive", "newton-paper", "exact"};
  return names;
}

const Names& names_of(InverseGrad) {
  static const Names names{"one-shot", "unrolled"};
  return names;
}

const Names& names_of(KernelScale) {
  static const Names names{"released", "paper"};
  return names;
}

const Names& names_of(Normalise) {
  static const Names names{"none", "core", "rows", "mean"};
  return names;
}

const Names& names_of(Stage4) {
  static const Names names{"softmax", "soft"};
  return names;
}

const Names& names_of(LayerForm) {
  static const Names names{"post", "pre"};
  return names;
}

size_t parse_name(std::string_view key, std::string_view text, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    fail_usage("unknown {} '{}'{}; known: {}", key, text, hint(text, names),
               fmt::join(names, ", "));
  }
  return static_cast<size_t>(found - names.begin());
}

}  // namespace soft
