// From the tensors of a weights file to a Network: one pass over the model's description.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "describe/description.h"
#include "engine/network.h"
#include "engine/packer.h"
#include "engine/plan.h"
#include "kernels/landmarks.h"
#include "weights/int8.h"

namespace soft {
namespace {

// Takes the parts in their order. What is not packed here (residuals, activations, reshaping) is
// what the engine's own code does between the layers.
class Packing {
 public:
  Packing(const Weights& weights, const Description& model, LinearForm form,
          const InputWatch& watch)
      : model_(model), packer_(weights, model, form, watch) {
    for (const StageOutline& outline : model.stages) {
      PackedStage& stage = network_.stages.emplace_back();
      stage.prefix = outline.prefix;
      stage.layers.resize(outline.depth);
    }
  }

  void add(const Part& part) {
    if (part.as<op::Convolution>() != nullptr) {
      stage(part).embed.push_back(packer_.convolution(part));
    } else if (part.as<op::LayerNorm>() != nullptr) {
      norm_of(part) = packer_.norm(part);
    } else if (part.as<op::ClassToken>() != nullptr) {
      network_.class_token = packer_.floats(part, 0);
    } else if (const auto* position = part.as<op::Position>()) {
      stage(part).made_for = position->made_for;
      stage(part).positions = packer_.floats(part, 0);
    } else if (part.as<op::Mix>() != nullptr) {
      add_mix(part);
    } else if (part.as<op::Linear>() != nullptr) {
      add_linear(part);
    }
  }

  Network take() { return std::move(network_); }

 private:
  PackedStage& stage(const Part& part) { return network_.stages.at(part.place.stage); }
  PackedLayer& layer(const Part& part) { return stage(part).layers.at(part.place.layer); }

  Norm& norm_of(const Part& part) {
    if (part.place.stage < 0) return network_.norm;
    if (part.place.layer < 0) return stage(part).embed_norm;
    return layer(part).norm1.gamma.empty() ? layer(part).norm1 : layer(part).norm2;
  }

  // The projections in front of a mix are packed with it, all in one.
  void add_linear(const Part& part) {
    if (part.place.stage < 0) {
      network_.head = packer_.linear({{&part}});
    } else if (layer(part).attention.dim > 0) {
      Dense* const behind_mix[] = {&layer(part).merge, &layer(part).up, &layer(part).down};
      *behind_mix[behind_mix_++] = packer_.linear({{&part}});
    }
  }

  void add_mix(const Part& part) {
    const AttentionSpec& spec = part.as<op::Mix>()->spec;
    layer(part).attention = spec;
    layer(part).project = packer_.linear(projections(part));
    behind_mix_ = 0;
    if (const TensorShape* weight = model_.find(part, kLandmarkName)) {
      const int64_t side = spec.mechanism == Mechanism::kSoftDense ? 1 : spec.ratio;
      const std::vector<float> stored = packer_.floats(*weight);
      layer(part).landmark_weight.resize(stored.size());
      pack_landmark_weight(spec.head_dim(), {side, side}, stored.data(),
                           layer(part).landmark_weight.data());
      const std::string norm(kLandmarkNormName);
      layer(part).landmark_norm = {packer_.floats(*model_.find(part, norm + ".weight")),
                                   packer_.floats(*model_.find(part, norm + ".bias")),
                                   static_cast<float>(kLandmarkNormEpsilon)};
    }
    if (const TensorShape* kernel = model_.find(part, kValueKernelName)) {
      layer(part).value_kernel = packer_.floats(*kernel);
    }
  }

  // The linear layers that give Q, K and V, each once; SOFT's Q is scaled by d^-1/4 here.
  std::vector<LinearBlock> projections(const Part& mix) const {
    const AttentionSpec& spec = mix.as<op::Mix>()->spec;
    const bool scaled = spec.mechanism != Mechanism::kSoftmax;
    const auto quarter_root = static_cast<float>(std::pow(spec.head_dim(), -0.25));
    std::vector<LinearBlock> blocks;
    for (const int input : mix.inputs) {
      const Part* part = &model_.parts[input];
      if (part->as<op::Slice>() != nullptr) part = &model_.parts[part->inputs[0]];
      const auto same = [&](const LinearBlock& block) { return block.part == part; };
      if (std::any_of(blocks.begin(), blocks.end(), same)) continue;
      blocks.push_back({part, scaled && blocks.empty() ? quarter_root : 1});
    }
    return blocks;
  }

  const Description& model_;
  Packer packer_;
  Network network_;
  int behind_mix_ = 0;  // linear layers of the present layer that stand behind its mix
};

size_t bytes_of(const std::vector<float>& floats) { return floats.size() * sizeof(float); }
size_t bytes_of(const Norm& norm) { return bytes_of(norm.gamma) + bytes_of(norm.beta); }

size_t bytes_of(const PackedLayer& layer) {
  return layer.project.bytes() + layer.merge.bytes() + layer.up.bytes() + layer.down.bytes() +
         bytes_of(layer.norm1) + bytes_of(layer.norm2) + bytes_of(layer.landmark_weight) +
         bytes_of(layer.landmark_norm) + bytes_of(layer.value_kernel);
}

size_t bytes_of(const std::vector<PackedPart>& parts) {
  size_t sum = 0;
  for (const PackedPart& part : parts) {
    sum += bytes_of(part.norm) + bytes_of(part.values);
    if (part.dense.shape.out > 0) sum += part.dense.bytes();
  }
  return sum;
}

// Of a family that is walked through part by part: what its plan's steps read.
std::vector<PackedPart> pack_parts(Packer& packer, const Description& model, LinearForm form) {
  std::vector<PackedPart> packed(model.parts.size());
  for (const Step& step : plan_walk(model, form).steps) {
    const Part& part = model.parts[step.part];
    if (const auto* dense = std::get_if<work::RunDense>(&step.work)) {
      const Part& own = model.parts[dense->part];
      packed[dense->part].dense = own.as<op::Linear>() != nullptr
                                      ? packer.linear({{&own}})
                                      : packer.convolution(own, dense->shape);
    } else if (part.as<op::LayerNorm>() != nullptr) {
      packed[step.part].norm = packer.norm(part);
    } else if (part.as<op::ClassToken>() != nullptr || part.as<op::Position>() != nullptr) {
      packed[step.part].values = packer.floats(part, 0);
    }
  }
  return packed;
}

// Whether the walk has all of the family's operations.
std::string zoo_obstacle(const ModelSpec& spec) {
  try {
    plan_walk(describe(spec, {spec.image_size, spec.image_size}), LinearForm::kConvolution);
    return "";
  } catch (const Error& error) {
    return fmt::format("{} (family {})", error.what(), spec.family);
  }
}

}  // namespace

size_t Network::bytes() const {
  if (!parts.empty()) return bytes_of(parts);
  size_t sum = bytes_of(class_token) + bytes_of(norm) + head.bytes();
  for (const PackedStage& stage : stages) {
    sum += bytes_of(stage.positions) + bytes_of(stage.embed_norm);
    for (const Dense& conv : stage.embed) sum += conv.bytes();
    for (const PackedLayer& layer : stage.layers) sum += bytes_of(layer);
  }
  return sum;
}

std::string native_obstacle(const ModelSpec& spec) {
  if (spec.in_zoo()) return zoo_obstacle(spec);
  if (!uses_landmarks(spec.attention) && spec.attention != Mechanism::kNone) {
    return fmt::format("the native engine runs attention=soft, soft-norm and none, not {}",
                       name_of(spec.attention));
  }
  if (spec.sampler == Sampler::kRandom) {
    return "sampler=random draws its landmarks with LibTorch's generator, which the native engine "
           "does not have";
  }
  return "";
}

Network pack_network(const Weights& weights, const ModelSpec& spec, LinearForm form,
                     const InputWatch& watch) {
  validate(spec);
  const std::string obstacle = native_obstacle(spec);
  if (!obstacle.empty()) fail_usage("{}; use --engine torch", obstacle);
  check_fit(weights, spec);
  const Description model = describe(spec, {spec.image_size, spec.image_size});
  Network network;
  if (spec.in_zoo()) {
    if (has_int8(weights)) {
      fail("'{}' holds int8 weights, which run in SOFT's own frames alone; use --engine torch",
           weights.path);
    }
    Packer packer(weights, model, form, watch);
    network.parts = pack_parts(packer, model, form);
  } else {
    Packing packing(weights, model, form, watch);
    for (const Part& part : model.parts) packing.add(part);
    network = packing.take();
  }
  network.spec = spec;
  network.embedding = model.head().as<op::Linear>()->in;
  return network;
}

Packed::Packed(const Weights& weights, const ModelSpec& spec, LinearForm form,
               const InputWatch& watch)
    : network_(std::make_shared<const Network>(pack_network(weights, spec, form, watch))) {}

const ModelSpec& Packed::spec() const { return network_->spec; }
int64_t Packed::embedding() const { return network_->embedding; }
size_t Packed::bytes() const { return network_->bytes(); }

}  // namespace soft
