// A network as the engine runs it: what Packed holds.
#pragma once

#include <vector>

#include "engine/dense.h"
#include "spec/model_spec.h"

namespace soft {

struct Norm {
  std::vector<float> gamma, beta;  // [dim]; empty where there is no norm
  float epsilon = 1e-5f;
};

struct PackedLayer {
  AttentionSpec attention;
  Dense project;  // C -> Q|V, or Q|K|V for softmax; the Q of SOFT already holds d^-1/4
  Dense merge;    // C -> C
  Dense up;       // C -> hidden
  Dense down;     // hidden -> C
  Norm norm1, norm2;
  std::vector<float> landmark_weight;  // [r, r, d in, d out]; empty unless the sampler learns
  Norm landmark_norm;
  std::vector<float> value_kernel;  // [h, k, k]; empty without value path

  bool post() const { return attention.names == LayerForm::kPost; }
};

struct PackedStage {
  std::vector<Dense> embed;
  Norm embed_norm;               // PVT style only
  Grid made_for;                 // the grid of `positions`
  int64_t prefix = 0;            // class tokens in front of the grid
  std::vector<float> positions;  // [prefix + made_for, C]
  std::vector<PackedLayer> layers;

  int64_t dim() const { return layers.front().attention.dim; }
  int64_t hidden() const { return layers.front().up.shape.out; }
  int64_t projected() const { return layers.front().project.shape.out; }
};

// What a part of a description holds, for the families that are walked through part by part.
struct PackedPart {
  Dense dense;                // convolutions and linear layers
  Norm norm;                  // layer norms
  std::vector<float> values;  // class tokens and positions
};

struct Network {
  ModelSpec spec;
  int64_t embedding = 0;          // channels that the classifier reads
  std::vector<PackedPart> parts;  // by part; then there is nothing else
  std::vector<PackedStage> stages;
  std::vector<float> class_token;  // [C], or empty
  Norm norm;
  Dense head;

  size_t bytes() const;
};

Network pack_network(const Weights& weights, const ModelSpec& spec, LinearForm form,
                     const InputWatch& watch);

}  // namespace soft
