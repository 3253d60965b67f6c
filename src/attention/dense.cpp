#include "attention/dense.h"

#include <ATen/core/grad_mode.h>

#include "base/error.h"
#include "base/memory.h"

namespace soft {

void check_dense_memory(const torch::Tensor& q) {
  constexpr double kAlwaysFits = 64e6;                       // below this nobody asks the system
  const double copies = at::GradMode::is_enabled() ? 3 : 2;  // scores, weights and their gradient
  const auto n = static_cast<double>(q.size(2));
  const double bytes = copies * static_cast<double>(q.size(0) * q.size(1)) * n * n *
                       static_cast<double>(q.element_size());
  if (bytes < kAlwaysFits) return;
  const auto available = static_cast<double>(available_memory());
  if (bytes <= available) return;
  fail(
      "attention among {} tokens needs {} for its matrices ({} heads in all), and {} are "
      "available; use smaller images or batches, or an attention that is linear in the tokens, "
      "such as soft",
      q.size(2), bytes_text(bytes), q.size(0) * q.size(1), bytes_text(available));
}

}  // namespace soft
