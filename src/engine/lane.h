// SOFT's own frames: stages of layers, everything between two attentions a tile of tokens at a
// time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/buffer.h"
#include "engine/carrier.h"
#include "engine/tile.h"

namespace soft {

class Lane : public Carrier {
 public:
  Lane(std::shared_ptr<const Network> network, Grid image, int team);

  // What a lane will take, known before anything is allocated.
  static size_t bytes_for(const Network& network, Grid image, int team);

  void logits(const float* pixels, float* out) override;
  void embed(const float* pixels, float* out) override;
  void features(const float* pixels, const std::vector<float*>& maps) override;
  void attention_row(const float* pixels, const RowQuery& query, float* out,
                     HeadPower* powers) override;
  void powers(const float* pixels, HeadPower* out) override;
  std::string first_not_finite(const float* pixels) override;
  size_t bytes() const override;
  int64_t inverse_fallbacks() const override { return fallbacks_; }

 private:
  struct Goal {
    const RowQuery* row = nullptr;  // stop where the last of these layers' attention would begin
    std::function<void(int layer)> at_row;             // each of them, its Q and V projected
    std::function<void(int stage, int layer)> at_mix;  // the same of every layer
    bool all_tokens = true;  // otherwise the last layer serves the class token alone
    std::function<void(int stage)> after_stage;
    std::function<void(const std::string& place, int stage)> watch;  // tokens_ after every place
  };

  void run(const float* pixels, const Goal& goal);
  void read_pixels(const float* pixels);
  void make_tokens(int stage);
  void enter_stage(int stage);
  void mix_tokens(int stage, int layer);
  void leave_layer(int stage, int layer, bool all_tokens);
  TilePass pass(int stage, int worker, Tile tile) const;
  MixJob job(int stage, int layer) const;
  Goal pooled_goal() const;
  void pool(float* out) const;

  std::shared_ptr<const Network> network_;
  Grid image_;
  std::vector<StageShape> shapes_;
  std::vector<StageCode> code_;
  DenseRunner head_;
  Buffer memory_;
  float* maps_[2] = {};         // convolutions read one and write the other
  float* tokens_ = nullptr;     // [n, C] of the present stage: one of the maps
  float* projected_ = nullptr;  // [n, Q|V]
  float* mixed_ = nullptr;      // [n, C]
  float* shared_ = nullptr;     // for mixing
  float* workers_ = nullptr;    // worker_floats_ for each worker
  int64_t worker_floats_ = 0;
  int64_t fallbacks_ = 0;
};

}  // namespace soft
