// The attention of one layer over one image, projections aside: how V is mixed given Q (and K), and
// the value path on top. Workers share heads, or tokens where that splits more evenly.
#pragma once

#include "engine/network.h"
#include "kernels/rows.h"
#include "kernels/softmax_attention.h"

namespace soft {

struct MixShape {
  AttentionSpec spec;
  Grid grid;
  int64_t prefix = 0;  // class tokens in front of the grid
  int team = 1;        // workers

  int64_t tokens() const { return prefix + grid.size(); }  // n
  int64_t head_dim() const { return spec.head_dim(); }     // d
};

// Floats of memory that mix and mix_row want.
struct MixNeeds {
  int64_t shared = 0;
  int64_t worker = 0;  // for each worker
};
MixNeeds mix_needs(const MixShape& shape);

struct MixJob {
  const PackedLayer& layer;
  const float* projected;  // [n, Q|V], or [n, Q|K|V] for softmax
  float* shared;
  float* workers;
  int64_t worker_floats;   // from one worker's memory to the next one's
  bool value_path = true;  // added where the layer has one

  float* worker(int index) const { return workers + index * worker_floats; }
};

// y [n, C] is written. Returns how many inverses had to be solved exactly.
int64_t mix(const MixShape& shape, const MixJob& job, float* y);

// Sums of squares over all tokens of a head.
struct HeadPower {
  double y = 0, v = 0;
};

// y [n, C] is written without the value path, and what is in it, out [h].
void mix_power(const MixShape& shape, MixJob job, float* y, HeadPower* out);

// out [h, n]: row `token` (class tokens counted) of every head's matrix, value path aside.
void mix_row(const MixShape& shape, const MixJob& job, int64_t token, float* out);

// ---- What the mechanisms share

struct HeadRows {
  ConstRows q, k, v;  // [n, d] inside `projected`; k is q where the mechanism shares them
};
HeadRows head_rows(const MixShape& shape, const MixJob& job, int64_t head);
Rows head_output(const MixShape& shape, float* y, int64_t head);  // [n, d] inside y

bool has_value_path(const MixJob& job);

// Adds the value path of one head, where there is one, for rows [begin, end) of the grid.
void add_value_path(const MixShape& shape, const MixJob& job, int64_t head, ConstRows v, Rows y,
                    int64_t begin, int64_t end);

// ---- The mechanisms (mix_soft.cpp, mix_dense.cpp, mix_softmax.cpp)

MixNeeds soft_needs(const MixShape& shape);
int64_t mix_soft(const MixShape& shape, const MixJob& job, float* y);
void soft_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token, float* out,
              float* scratch);

int64_t dense_needs(const MixShape& shape);
void mix_dense(const MixShape& shape, const MixJob& job, int64_t head, float* y, float* scratch);
void dense_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token, float* out,
               float* scratch);

int64_t softmax_needs(const MixShape& shape);
void mix_softmax(const MixShape& shape, const MixJob& job, int64_t head, float* y, float* scratch);
void softmax_row(const MixShape& shape, const MixJob& job, int64_t head, int64_t token, float* out);
void softmax_row(const SoftmaxHead& head, int64_t token, float* out);  // [n]

}  // namespace soft
