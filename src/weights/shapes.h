// Questions that the shapes in a file answer.
#pragma once

#include <string>

#include "weights/weights.h"

namespace soft {

class Shapes {
 public:
  explicit Shapes(const Weights& weights) : weights_(weights) {}

  bool has(const std::string& name) const { return weights_.tensors.count(name) != 0; }
  size_t axes(const std::string& name) const { return weights_.tensors.at(name).shape.size(); }
  int side(const std::string& name, size_t axis) const;  // an Error when there is none

  // Heads of `dim` channels when each has as many as this side; an Error when that is no whole
  // number.
  int heads(int dim, const std::string& name, size_t axis) const;

  bool pyramid() const { return has("patch_embed2.proj.0.weight"); }
  bool pre_norm(int stage) const;
  int dim(int stage) const;
  int depth(int stage) const;
  int first_grid() const;  // side of the square grid whose positions stage 1 has learnt

 private:
  const Weights& weights_;
};

}  // namespace soft
