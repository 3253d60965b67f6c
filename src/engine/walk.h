// One image through a description, part by part, as its plan says (engine/plan.h): every family of
// the zoo whose operations the engine has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/buffer.h"
#include "engine/carrier.h"
#include "engine/walk_step.h"

namespace soft {

class Walk : public Carrier {
 public:
  Walk(std::shared_ptr<const Network> network, Grid image, int team);

  static size_t bytes_for(const Network& network, Grid image, int team);

  void logits(const float* pixels, float* out) override;
  void embed(const float* pixels, float* out) override;
  void features(const float* pixels, const std::vector<float*>& maps) override;
  void attention_row(const float* pixels, const RowQuery& query, float* out,
                     HeadPower* powers) override;
  void powers(const float* pixels, HeadPower* out) override;
  std::string first_not_finite(const float* pixels) override;
  size_t bytes() const override;

 private:
  friend struct StepRun;

  // Called in front of every step, when its inputs are there; false ends the run.
  using Watch = std::function<bool(size_t step)>;

  void run(const float* pixels, const Watch& watch = {});
  void run_step(size_t index);
  void compile();
  float* data(const View& view) const { return buffers_[view.buffer] + view.offset; }
  Arrays arrays(const Step& step) const;
  void power(const Step& step, HeadPower* out);
  void row(const Step& step, int64_t token, float* out) const;  // [h, n]

  std::shared_ptr<const Network> network_;
  Description model_;
  WalkPlan plan_;
  const float* pixels_ = nullptr;              // of the present image
  std::vector<DenseRunner> code_;              // each shape once
  std::vector<const DenseRunner*> runners_;    // by step
  std::vector<std::vector<float>> positions_;  // by step, resized to the grid
  Buffer memory_;
  std::vector<float*> buffers_;  // of the plan
  float* workers_ = nullptr;     // worker_floats_ for each worker
  int64_t worker_floats_ = 0;
};

}  // namespace soft
