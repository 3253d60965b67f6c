// What carries one image through the network: compiled code, activations and scratch for one image
// size, and the workers that share the work.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/buffer.h"
#include "engine/engine.h"
#include "engine/tile.h"

namespace soft {

class Lane {
 public:
  Lane(std::shared_ptr<const Network> network, Grid image, int team);

  // What a lane will take, known before anything is allocated.
  static size_t bytes_for(const Network& network, Grid image, int team);

  // pixels: [3, H, W] of one image.
  void logits(const float* pixels, float* out);                         // [classes]
  void embed(const float* pixels, float* out);                          // [C]
  void features(const float* pixels, const std::vector<float*>& maps);  // each [C, H, W]
  // [l·h, n] and [l·h] of the layers asked for
  void attention_row(const float* pixels, const RowQuery& query, float* out, HeadPower* powers);
  void powers(const float* pixels, HeadPower* out);  // of every head of every layer

  // The first place of the model whose output for this image is not finite; "" when all are.
  std::string first_not_finite(const float* pixels);

  int team() const { return team_; }
  size_t bytes() const;
  int64_t inverse_fallbacks() const { return fallbacks_; }
  Profile& profile() { return profile_; }

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
  int team_;
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
  Profile profile_;
};

}  // namespace soft
