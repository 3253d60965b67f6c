#include "weights/infer_zoo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "describe/description.h"

namespace soft {
namespace {

// Digits stand for layers: "blocks.11.norm1.weight" and "blocks.3.norm1.weight" are alike.
std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (const char letter : name) {
    if (letter < '0' || letter > '9') {
      pattern += letter;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

// A row of the zoo as its file would be; described once, since files of strangers are compared
// often.
struct Known {
  ModelSpec spec;
  std::vector<TensorShape> tensors;
  std::set<std::string> patterns;
  std::string head;              // the classifier's weight,
  std::set<std::string> ending;  // and all tensors of the classifier
};

Known known_row(const std::string& name) {
  Known row;
  row.spec = find_model(name);
  const Description model = describe(row.spec, {row.spec.image_size, row.spec.image_size});
  row.tensors = model.tensors;
  for (const TensorShape& tensor : model.tensors) row.patterns.insert(pattern_of(tensor.name));
  row.head = model.tensors[model.head().tensors[0]].name;
  for (const int tensor : model.head().tensors) row.ending.insert(model.tensors[tensor].name);
  return row;
}

const std::vector<Known>& known_rows() {
  static const std::vector<Known> rows = [] {
    std::vector<Known> made;
    for (const ZooRow& row : zoo_table()) made.push_back(known_row(row.name));
    return made;
  }();
  return rows;
}

// 0 when the file has no classifier of this name.
int classes_in(const Weights& weights, const std::string& head) {
  const auto found = weights.tensors.find(head);
  if (found == weights.tensors.end() || found->second.shape.size() != 2) return 0;
  return static_cast<int>(std::clamp<int64_t>(found->second.shape[0], 1, 1'000'000));
}

// Whatever the number of classes.
bool has_all_shapes(const Weights& weights, const Known& row) {
  if (weights.tensors.size() != row.tensors.size()) return false;
  return std::all_of(row.tensors.begin(), row.tensors.end(), [&](const TensorShape& tensor) {
    const auto found = weights.tensors.find(tensor.name);
    if (found == weights.tensors.end()) return false;
    return row.ending.count(tensor.name) > 0 || found->second.shape == tensor.shape;
  });
}

}  // namespace

ModelSpec fit_zoo(const Weights& weights, ModelSpec row) {
  for (const Known& known : known_rows()) {
    if (known.spec.name != row.name) continue;
    const int classes = classes_in(weights, known.head);
    if (classes > 0) row.classes = classes;
  }
  return row;
}

std::optional<ModelSpec> infer_zoo(const Weights& weights) {
  std::set<std::string> patterns;
  for (const auto& [name, view] : weights.tensors) patterns.insert(pattern_of(name));
  std::vector<std::string> alike;
  for (const Known& row : known_rows()) {
    if (row.patterns != patterns) continue;
    if (has_all_shapes(weights, row)) return fit_zoo(weights, row.spec);
    alike.push_back(row.spec.name);
  }
  if (alike.empty()) return {};
  fail(
      "the tensors of '{}' have the names of {}, but other shapes; say which with --model, and how "
      "it differs with --set",
      weights.path, fmt::join(alike, ", "));
}

}  // namespace soft
