#include "attention/mechanisms.h"
#include "base/error.h"

namespace soft {

// No default: the compiler names the mechanism that was forgotten.
std::shared_ptr<Attention> make_attention(const AttentionSpec& spec) {
  switch (spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return make_soft(spec);
    case Mechanism::kSoftDense:
      return make_soft_dense(spec);
    case Mechanism::kSoftmax:
      return make_softmax(spec);
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
      return make_gaussian(spec);
    case Mechanism::kLinformer:
      return make_linformer(spec);
    case Mechanism::kPerformer:
      return make_performer(spec);
    case Mechanism::kNystromformer:
      return make_nystromformer(spec);
    case Mechanism::kReformer:
      return make_reformer(spec);
    case Mechanism::kNone:
      return make_none(spec);
  }
  fail("attention number {} is not a mechanism", static_cast<int>(spec.mechanism));
}

}  // namespace soft
