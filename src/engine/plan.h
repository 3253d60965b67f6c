// How the native engine walks through a description at one image size: which parts run as one,
// where every value lies, and which buffers serve whom. What only looks at a value in another way
// (flatten, slice, heads) costs nothing. Reads neither weights nor memory.
//
// To teach the engine an operation: an overload of Planner in plan.cpp, a struct here if its work
// is of a new kind, and an overload of Walk (engine/walk.h). Until then it refuses by the
// operation's name.
#pragma once

#include <variant>
#include <vector>

#include "describe/description.h"
#include "engine/dense.h"
#include "engine/view.h"

namespace soft {

namespace work {

struct Look {};  // another view of its input

struct ReadPixels {};  // channels first -> channels last

// A convolution or a linear layer; with shape.sum it is added to what the output holds.
struct RunDense {
  DenseShape shape;
  Grid in;
  int part = 0;  // whose weights
};

struct RunNorm {
  double epsilon = 0;
};

struct PutToken {};
struct AddRows {};  // positions

// softmax(scale·QKᵀ)V of [h, n, d], [h, m, d], [h, m, d].
struct Attend {
  double scale = 1;
  bool whole = false;  // an n x n matrix, as `soft attend` shows it
};

struct Bend {
  Curve curve = Curve::kNone;
};

struct Add {
  bool relu = false;
};

struct MeanRows {};  // over all rows of [n, C]

struct PoolWindows {
  op::WindowPool pool;
};

}  // namespace work

using Work = std::variant<work::Look, work::ReadPixels, work::RunDense, work::RunNorm,
                          work::PutToken, work::AddRows, work::Attend, work::Bend, work::Add,
                          work::MeanRows, work::PoolWindows>;

struct Step {
  Work work;
  int part = 0;  // whose value it gives
  Place place;
  std::vector<View> inputs;
  View output;
};

struct WalkPlan {
  std::vector<Step> steps;
  std::vector<int64_t> buffers;  // floats of each
  View embedding;                // what the last step, the classifier, reads
};

// A usage error names the operation that the engine does not have.
WalkPlan plan_walk(const Description& model, LinearForm form);

}  // namespace soft
