// What carries one image through a network: compiled code, activations and scratch for one image
// size, and the workers that share the work. SOFT's own frames travel in a Lane (engine/lane.h),
// the other families in a Walk (engine/walk.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/mix.h"

namespace soft {

class Carrier {
 public:
  explicit Carrier(int team) : team_(team) {}
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  // pixels: [3, H, W] of one image.
  virtual void logits(const float* pixels, float* out) = 0;  // [classes]
  virtual void embed(const float* pixels, float* out) = 0;   // [C]
  virtual void features(const float* pixels,
                        const std::vector<float*>& maps) = 0;  // each [C, H, W]
  // [l·h, n] and [l·h] of the layers asked for
  virtual void attention_row(const float* pixels, const RowQuery& query, float* out,
                             HeadPower* powers) = 0;
  virtual void powers(const float* pixels, HeadPower* out) = 0;  // of every head of every layer

  // The first place of the model whose output for this image is not finite; "" when all are.
  virtual std::string first_not_finite(const float* pixels) = 0;

  virtual size_t bytes() const = 0;
  virtual int64_t inverse_fallbacks() const { return 0; }
  int team() const { return team_; }
  Profile& profile() { return profile_; }

 protected:
  int team_;
  Profile profile_;
};

// What a carrier will take, known before anything is allocated; and the carrier itself.
size_t carrier_bytes(const Network& network, Grid image, int team);
std::unique_ptr<Carrier> make_carrier(const std::shared_ptr<const Network>& network, Grid image,
                                      int team);

}  // namespace soft
