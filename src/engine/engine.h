// Fast inference on the CPU, of SOFT's own frames and of the families whose operations it has:
// oneDNN for convolutions and linear layers, our own kernels for everything else, no LibTorch.
//
//   const Packed model(read_weights(path), spec);        const: share it between threads
//   Workspace workspace;                                 one per caller
//   forward(model, workspace, {pixels, count, {h, w}}, logits);
//
// The same input gives the same bits, run after run. Uses threads() cores: each on its own image
// while there are enough of them, all together on one image otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/grid.h"
#include "base/npy.h"
#include "engine/profile.h"
#include "engine/question.h"
#include "spec/model_spec.h"
#include "weights/weights.h"

namespace soft {

// Empty when this engine runs the model; otherwise why not (LibTorch runs them all).
std::string native_obstacle(const ModelSpec& spec);

// Which oneDNN primitive serves the linear layers: kBest is the one that packs its weights on this
// machine (matmul with AVX-512, a 1x1 convolution below).
enum class LinearForm { kBest, kConvolution, kMatmul };

// Sees every input [rows, channels] of a dense layer before it runs, from several threads at once.
// Layers that read the same input run as one.
using InputWatch = std::function<void(const std::vector<std::string>& layers, const float* input,
                                      int64_t rows, int64_t channels)>;

struct Network;  // engine/network.h

// A model's weights as the engine reads them: in oneDNN's blocked layouts, BN folded into its
// convolutions; layers that a file holds as bytes run as bytes. Copies share one network; the
// weights file is not needed afterwards.
class Packed {
 public:
  Packed(const Weights& weights, const ModelSpec& spec, LinearForm form = LinearForm::kBest,
         const InputWatch& watch = {});

  const ModelSpec& spec() const;
  int64_t embedding() const;  // channels that the classifier reads
  size_t bytes() const;
  const std::shared_ptr<const Network>& network() const { return network_; }

 private:
  std::shared_ptr<const Network> network_;
};

struct WorkspaceOptions {
  size_t cached_sizes = 4;  // image sizes kept ready; the least recently used one goes
  size_t largest_bytes = size_t{4} << 30;  // a size that would take more is refused
};

// Compiled primitives and scratch memory, made at the first run at a size and reused from then on.
class Workspace {
 public:
  explicit Workspace(const WorkspaceOptions& options = {});
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  size_t bytes() const;               // scratch held at present
  size_t cached_sizes() const;        // how many image sizes that is for
  int64_t inverse_fallbacks() const;  // Newton inverses that had to be solved exactly, so far
  Profile profile() const;            // where the time went, so far
  void reset_profile();

  class Shelf;  // engine/shelf.h
  Shelf& shelf() { return *shelf_; }

 private:
  std::unique_ptr<Shelf> shelf_;
};

// Each of these throws an Error that names the first layer at fault when an answer is not finite.

// logits [count, classes] are written.
void forward(const Packed& model, Workspace& workspace, const ImageBatch& images, float* logits);

// The vector that the classifier reads, [count, embedding()].
void embed(const Packed& model, Workspace& workspace, const ImageBatch& images, float* vectors);

// Maps after each stage, [count, C, H, W]; the last one after the final norm, without class token.
std::vector<Array> features(const Packed& model, Workspace& workspace, const ImageBatch& images);

// As a RowSource gives them. Takes O(n·m) work, never an n x n array.
AttentionRows attention_row(const Packed& model, Workspace& workspace, const ImageBatch& images,
                            const RowQuery& query);

// Of every head, in the order in which they run.
std::vector<HeadShare> head_shares(const Packed& model, Workspace& workspace,
                                   const ImageBatch& images);

}  // namespace soft
