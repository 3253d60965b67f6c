// SOFT attention: Y = K1·(inv(A)·(K1'V)) through m landmarks, plus the value path.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "engine/mix.h"
#include "engine/sampler.h"
#include "engine/team.h"
#include "kernels/gemm.h"
#include "kernels/soft_tile.h"

namespace soft {
namespace {

constexpr int64_t kValueRows = 8;  // rows of the grid in one unit of the value path

SoftOptions options_of(const AttentionSpec& spec) {
  return {{spec.inverse, spec.newton_steps, spec.epsilon}, normalisation_of(spec)};
}

// With its sizes only; enough to ask how much memory it takes.
SoftHead sized_head(const MixShape& shape) {
  SoftHead head;
  head.tokens = shape.tokens();
  head.landmarks = HeadSampler(shape.spec, shape.grid).count();
  head.dim = shape.head_dim();
  return head;
}

int64_t landmark_floats(const SoftHead& head) { return padded(head.landmarks * head.dim); }

// A head with its landmarks sampled into the front of `memory`.
SoftHead sampled_head(const MixShape& shape, const MixJob& job, int64_t index, float* memory,
                      float* scratch) {
  const HeadRows rows = head_rows(shape, job, index);
  const ConstRows on_grid{rows.q.row(shape.prefix), rows.q.stride};
  HeadSampler(shape.spec, shape.grid).sample(job.layer, on_grid, memory, scratch);
  SoftHead head = sized_head(shape);
  head.q = rows.q;
  head.v = rows.v;
  head.landmark = memory;
  return head;
}

// Whole heads when they split evenly: then everything about a head stays in one core's cache.
bool heads_apart(const MixShape& shape) {
  return shape.spec.heads % shape.team == 0 || shape.spec.heads >= 4 * shape.team;
}

int64_t mix_apart(const MixShape& shape, const MixJob& job, float* y) {
  const SoftOptions options = options_of(shape.spec);
  std::atomic<int64_t> fallbacks{0};
  share(shape.team, shape.spec.heads, [&](int worker, int64_t index) {
    float* memory = job.worker(worker);
    float* rest = memory + landmark_floats(sized_head(shape));
    const SoftHead head = sampled_head(shape, job, index, memory, rest);
    const Rows out = head_output(shape, y, index);
    fallbacks += soft_attention(head, options, out, rest).fell_back ? 1 : 0;
    add_value_path(shape, job, index, head.v, out, 0, shape.grid.h);
  });
  return fallbacks;
}

int64_t shared_floats(const SoftHead& head) {
  return landmark_floats(head) + padded(soft_state_size(head));
}

// A head that several workers serve, one phase after another.
struct SharedHead {
  SoftHead head;
  SoftState state;
  Rows out;
};

SharedHead begin_head(const MixShape& shape, const MixJob& job, int64_t index, float* scratch) {
  const SoftHead sizes = sized_head(shape);
  float* memory = job.shared + index * shared_floats(sizes);
  const SoftHead head = sampled_head(shape, job, index, memory, scratch);
  return {head, soft_state(head, memory + landmark_floats(head)), {}};
}

int64_t mix_together(const MixShape& shape, const MixJob& job, float* y) {
  const int64_t heads = shape.spec.heads, chunks = token_chunks(shape.tokens());
  const int64_t bands = (shape.grid.h + kValueRows - 1) / kValueRows;
  const SoftOptions options = options_of(shape.spec);
  std::vector<SharedHead> shared(heads);
  std::atomic<int64_t> fallbacks{0};
  share(shape.team, heads, [&](int worker, int64_t index) {
    SharedHead& own = shared[index] = begin_head(shape, job, index, job.worker(worker));
    own.out = head_output(shape, y, index);
    fallbacks += soft_prepare(own.head, options, own.state).fell_back ? 1 : 0;
  });
  share(shape.team, heads * chunks, [&](int worker, int64_t unit) {
    const SharedHead& own = shared[unit / chunks];
    soft_gather(own.head, own.state, unit % chunks, job.worker(worker));
  });
  share(shape.team, heads,
        [&](int, int64_t index) { soft_mix(shared[index].head, shared[index].state); });
  share(shape.team, heads * chunks, [&](int worker, int64_t unit) {
    const SharedHead& own = shared[unit / chunks];
    soft_scatter(own.head, own.state, unit % chunks, own.out, job.worker(worker));
  });
  share(shape.team, heads * bands, [&](int, int64_t unit) {
    const int64_t index = unit / bands, begin = unit % bands * kValueRows;
    const int64_t end = std::min(begin + kValueRows, shape.grid.h);
    add_value_path(shape, job, index, shared[index].head.v, shared[index].out, begin, end);
  });
  return fallbacks;
}

}  // namespace

MixNeeds soft_needs(const MixShape& shape) {
  const SoftHead head = sized_head(shape);
  const int64_t sampling = HeadSampler(shape.spec, shape.grid).scratch();
  const int64_t row = soft_state_size(head) + 2 * padded(head.landmarks) + soft_tile_size(head);
  MixNeeds needs;
  if (heads_apart(shape)) {
    needs.worker = std::max(sampling, soft_attention_size(head));
  } else {
    needs.shared = shape.spec.heads * shared_floats(head);
    needs.worker = std::max(sampling, soft_tile_size(head));
  }
  needs.worker = landmark_floats(head) + std::max(needs.worker, row);
  return needs;
}

int64_t mix_soft(const MixShape& shape, const MixJob& job, float* y) {
  const int64_t fallbacks =
      heads_apart(shape) ? mix_apart(shape, job, y) : mix_together(shape, job, y);
  if (fallbacks > 0) {
    log_once("a Newton inverse did not converge; such matrices are solved exactly instead");
  }
  return fallbacks;
}

// 1/g of one row of K1 with kRows, otherwise 1; own [m] is the row. The phases before are done.
float row_share(const SoftHead& head, const SoftState& state, const float* own) {
  if (state.normalise != Normalise::kRows) return 1;
  float sum = 0, reach = 0, square = 0;
  for (int64_t j = 0; j < head.landmarks; ++j) {
    sum += own[j] * state.spread[j];
    reach += own[j];
    square += state.spread[j] * state.spread[j];
  }
  return 1 / guarded_sum(sum, reach, square);
}

// Row i of K1·N·K1', N = inv(A) or its normalised form: K1·(N·K1[i, :]'), a tile of tokens at a
// time.
void soft_row(const MixShape& shape, const MixJob& job, int64_t index, int64_t token, float* out,
              float* memory) {
  float* rest = memory + landmark_floats(sized_head(shape));
  const SoftHead head = sampled_head(shape, job, index, memory, rest);
  const int64_t m = head.landmarks, width = padded(m), chunks = token_chunks(head.tokens);
  SoftState state = soft_state(head, rest);
  soft_prepare(head, options_of(shape.spec), state);
  float* own = rest + soft_state_size(head);  // [padded(m)] K1[token, :]
  float* weights = own + width;               // [padded(m)] N·K1[token, :]'
  float* tile = weights + width;              // [kTokenTile, padded(m)]
  const bool by_rows = state.normalise == Normalise::kRows;
  if (by_rows) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) soft_gather(head, state, chunk, tile);
    soft_mix(head, state);
  }
  float peaks[kTokenTile];
  cross_tile(head, state.packed, token, 1, own, by_rows ? peaks : nullptr);
  gemm({1, m, m, row_share(head, state, own)}, {own, m}, {state.core, m}, weights, m);
  for_each_tile(0, head.tokens, [&](int64_t begin, int64_t count) {
    cross_tile(head, state.packed, begin, count, tile, by_rows ? peaks : nullptr);
    gemm({count, 1, m}, {tile, width}, {weights, 1}, out + begin, 1);
    for (int64_t i = 0; by_rows && i < count; ++i) {
      out[begin + i] *= below_peak(peaks[i], state.peaks[chunks]);
    }
  });
}

}  // namespace soft
