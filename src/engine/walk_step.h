// What the steps of a walk do with their arrays; workers share rows, heads or cells.
#pragma once

#include "engine/network.h"
#include "engine/plan.h"
#include "kernels/softmax_attention.h"

namespace soft {

struct Arrays {
  const Step& step;
  std::vector<const float*> in;
  float* out;
  int team;
  float* workers;         // scratch of each worker
  int64_t worker_floats;  // from one worker's to the next one's
};

// Floats of scratch that a step wants for each worker.
int64_t step_scratch(const Step& step);

void read_pixels(const Arrays& arrays, const float* pixels);
void run_norm(const Arrays& arrays, const Norm& norm);
void put_token(const Arrays& arrays, const std::vector<float>& token);
void add_rows(const Arrays& arrays, const std::vector<float>& rows);
SoftmaxHead softmax_head(const Arrays& arrays, const work::Attend& attend, int64_t head);
void attend(const Arrays& arrays, const work::Attend& attend);
void bend(const Arrays& arrays, Curve curve);
void add(const Arrays& arrays, bool relu);
void average(const Arrays& arrays);
void pool_windows(const Arrays& arrays, const op::WindowPool& pool);

}  // namespace soft
