#include "weights/shapes.h"

#include <cmath>

#include "base/error.h"

namespace soft {

int Shapes::side(const std::string& name, size_t axis) const {
  constexpr int64_t kLargest = 1 << 20;  // grid times patch stays inside an int
  const auto found = weights_.tensors.find(name);
  if (found == weights_.tensors.end()) {
    fail("'{}' has no tensor {}; it does not hold a model of this program", weights_.path, name);
  }
  const std::vector<int64_t>& shape = found->second.shape;
  if (axis >= shape.size() || shape[axis] < 1 || shape[axis] > kLargest) {
    fail("tensor {} of '{}' has an impossible shape", name, weights_.path);
  }
  return static_cast<int>(shape[axis]);
}

int Shapes::heads(int dim, const std::string& name, size_t axis) const {
  const int channels = side(name, axis);
  if (dim % channels != 0) {
    fail("tensor {} of '{}' is made for heads of {} channels; {} cannot be split into such", name,
         weights_.path, channels, dim);
  }
  return dim / channels;
}

bool Shapes::pre_norm(int stage) const {
  return has(fmt::format("block{}.0.norm1.weight", stage + 1));
}

int Shapes::dim(int stage) const { return side(fmt::format("pos_embed{}", stage + 1), 2); }

int Shapes::depth(int stage) const {
  const auto holds_block = [&](const std::string& prefix) {
    const auto next = weights_.tensors.lower_bound(prefix);
    return next != weights_.tensors.end() && next->first.compare(0, prefix.size(), prefix) == 0;
  };
  int count = 0;
  while (holds_block(fmt::format("block{}.{}.", stage + 1, count))) ++count;
  return count;
}

int Shapes::first_grid() const {
  const bool class_token = !pyramid() && has("cls_token");
  const int tokens = side("pos_embed1", 1) - (class_token ? 1 : 0);
  const int root = static_cast<int>(std::lround(std::sqrt(tokens)));
  if (root < 1 || root * root != tokens) {
    fail("pos_embed1 of '{}' has {} positions, not a square grid", weights_.path, tokens);
  }
  return root;
}

}  // namespace soft
