// libsoft_ops.so: SOFT's two operations for any program that uses LibTorch, Python's included
// (docs/torch_ops.md). Importing the library registers torch.ops.soft.attention and
// torch.ops.soft.newton_inverse, both with gradients.
#include <torch/library.h>

#include "attention/fused.h"
#include "attention/inverse.h"
#include "attention/landmark_mix.h"
#include "attention/torch.h"
#include "base/error.h"
#include "spec/names.h"

namespace soft {
namespace {

using torch::Tensor;

InverseRule rule_of(const std::string& inverse, int64_t steps, double epsilon) {
  if (steps < 1) fail("steps={} must be at least 1", steps);
  InverseRule rule;
  rule.mode = parse_enum<Inverse>("inverse", inverse);
  rule.steps = static_cast<int>(steps);
  rule.epsilon = epsilon;
  return rule;
}

void check_heads(const Tensor& q, const Tensor& v, const Tensor& landmarks) {
  if (q.dim() != 4 || v.sizes() != q.sizes()) fail("q and v must both be [B, h, n, d]");
  if (landmarks.dim() != 4 || landmarks.size(0) != q.size(0) || landmarks.size(1) != q.size(1) ||
      landmarks.size(3) != q.size(3)) {
    fail("landmarks must be [B, h, m, d] with the B, h and d of q");
  }
}

// Errors cross into Python as RuntimeError.
template <class Operation>
Tensor translated(const Operation& operation) {
  try {
    return operation();
  } catch (const Error& error) {
    TORCH_CHECK(false, error.what());
  }
}

Tensor attention_op(const Tensor& q, const Tensor& v, const Tensor& landmarks, bool norm,
                    const std::string& inverse, int64_t steps, double epsilon) {
  return translated([&] {
    check_heads(q, v, landmarks);
    const Normalise normalise = norm ? Normalise::kCore : Normalise::kNone;
    return landmark_mix({q, q, v}, {landmarks, {}},
                        {rule_of(inverse, steps, epsilon), normalise, {}});
  });
}

Tensor inverse_op(const Tensor& a, const std::string& inverse, int64_t steps, double epsilon) {
  return translated([&] {
    if (a.dim() < 2 || a.size(-1) != a.size(-2)) fail("a must be [.., m, m]");
    return soft::inverse(a, rule_of(inverse, steps, epsilon));
  });
}

}  // namespace
}  // namespace soft

TORCH_LIBRARY(soft, library) {
  library.def(
      "attention(Tensor q, Tensor v, Tensor landmarks, bool norm=False, str inverse='newton', "
      "int steps=20, float epsilon=0.01) -> Tensor",
      soft::attention_op);
  library.def(
      "newton_inverse(Tensor a, str inverse='newton', int steps=20, float epsilon=0.01) -> Tensor",
      soft::inverse_op);
}
