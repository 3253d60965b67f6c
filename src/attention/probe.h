// A look into the attentions of a model while it runs, and what is left out of them meanwhile.
// While a Probe lives, every attention on its thread reports to it, in the order in which they run.
#pragma once

#include <functional>

#include "attention/attention.h"

namespace soft {

// Parts of an attention that may be left out, to see what they are worth.
struct Silenced {
  bool mixing = false;  // Y is 0
  bool value_path = false;
};

// The matrices of a mechanism that works through landmarks; undefined for the others.
struct LandmarkKernels {
  torch::Tensor cross;    // K1 [B, h, n, m]
  torch::Tensor core;     // A [B, h, m, m]
  torch::Tensor inverse;  // of A
};

// One mixing, value path aside.
struct SeenMixing {
  Attention& attention;
  const Heads& heads;
  const Tokens& tokens;
  const torch::Tensor& y;          // [B, h, n, d]
  const LandmarkKernels& kernels;  // formed for this, with O(n·m) memory
};

class Probe {
 public:
  std::function<Silenced(const AttentionSpec&)> silenced;  // asked before each mixing, or empty
  std::function<void(const SeenMixing&)> see;              // told after it, or empty

  Probe();
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // For the attentions: this thread's probe, or null. A mixing made while `see` looks is not seen.
  static Probe* present();

  LandmarkKernels kernels;  // of the mixing under way, left here by its mechanism

 private:
  Probe* before_;
};

}  // namespace soft
