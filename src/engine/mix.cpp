#include "engine/mix.h"

#include <algorithm>

#include "base/error.h"
#include "engine/team.h"
#include "kernels/value_path.h"

namespace soft {
namespace {

// The value path is all there is.
void mix_nothing(const MixShape& shape, const MixJob& job, int64_t head, float* y) {
  const Rows out = head_output(shape, y, head);
  for (int64_t i = 0; i < shape.tokens(); ++i) std::fill_n(out.row(i), shape.head_dim(), 0.0f);
  add_value_path(shape, job, head, head_rows(shape, job, head).v, out, 0, shape.grid.h);
}

double square_sum(const MixShape& shape, ConstRows rows) {  // of [n, d]
  double sum = 0;
  for (int64_t i = 0; i < shape.tokens(); ++i) {
    for (int64_t c = 0; c < shape.head_dim(); ++c) {
      const double value = rows.row(i)[c];
      sum += value * value;
    }
  }
  return sum;
}

}  // namespace

MixNeeds mix_needs(const MixShape& shape) {
  switch (shape.spec.mechanism) {
    case Mechanism::kSoft:
    case Mechanism::kSoftNorm:
      return soft_needs(shape);
    case Mechanism::kSoftDense:
      return {0, dense_needs(shape)};
    case Mechanism::kSoftmax:
      return {0, softmax_needs(shape)};
    case Mechanism::kNone:
      return {};
    case Mechanism::kGaussian:
    case Mechanism::kGaussianSoftmax:
    case Mechanism::kLinformer:
    case Mechanism::kPerformer:
    case Mechanism::kNystromformer:
    case Mechanism::kReformer:
      break;
  }
  fail_usage("the native engine has no attention={}; use --engine torch",
             name_of(shape.spec.mechanism));
}

int64_t mix(const MixShape& shape, const MixJob& job, float* y) {
  if (uses_landmarks(shape.spec.mechanism)) return mix_soft(shape, job, y);
  share(shape.team, shape.spec.heads, [&](int worker, int64_t head) {
    if (shape.spec.mechanism == Mechanism::kNone) {
      mix_nothing(shape, job, head, y);
    } else if (shape.spec.mechanism == Mechanism::kSoftDense) {
      mix_dense(shape, job, head, y, job.worker(worker));
    } else {
      mix_softmax(shape, job, head, y, job.worker(worker));
    }
  });
  return 0;
}

void mix_power(const MixShape& shape, MixJob job, float* y, HeadPower* out) {
  job.value_path = false;
  mix(shape, job, y);
  share(shape.team, shape.spec.heads, [&](int, int64_t head) {
    out[head] = {square_sum(shape, head_output(shape, y, head)),
                 square_sum(shape, head_rows(shape, job, head).v)};
  });
}

void mix_row(const MixShape& shape, const MixJob& job, int64_t token, float* out) {
  share(shape.team, shape.spec.heads, [&](int worker, int64_t head) {
    float* row = out + head * shape.tokens();
    if (shape.spec.mechanism == Mechanism::kNone) {
      std::fill_n(row, shape.tokens(), 0.0f);
    } else if (uses_landmarks(shape.spec.mechanism)) {
      soft_row(shape, job, head, token, row, job.worker(worker));
    } else if (shape.spec.mechanism == Mechanism::kSoftDense) {
      dense_row(shape, job, head, token, row, job.worker(worker));
    } else {
      softmax_row(shape, job, head, token, row);
    }
  });
}

HeadRows head_rows(const MixShape& shape, const MixJob& job, int64_t head) {
  const int64_t dim = shape.spec.dim, width = job.layer.project.shape.out;
  const auto rows = [&](int64_t column) {
    return ConstRows{job.projected + column + head * shape.head_dim(), width};
  };
  return {rows(0), rows(width - 2 * dim), rows(width - dim)};
}

Rows head_output(const MixShape& shape, float* y, int64_t head) {
  return {y + head * shape.head_dim(), shape.spec.dim};
}

bool has_value_path(const MixJob& job) { return job.value_path && !job.layer.value_kernel.empty(); }

void add_value_path(const MixShape& shape, const MixJob& job, int64_t head, ConstRows v, Rows y,
                    int64_t begin, int64_t end) {
  if (!has_value_path(job)) return;
  const int64_t k = shape.spec.value_kernel;
  const ValuePath path{shape.grid, 1, shape.head_dim(), {k, k}};
  value_path(path, job.layer.value_kernel.data() + head * k * k, {v.row(shape.prefix), v.stride},
             {y.row(shape.prefix), y.stride}, begin, end);
}

}  // namespace soft
