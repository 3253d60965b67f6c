// From the tensors of a weights file to a Network, by their published names.
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "engine/network.h"
#include "kernels/landmarks.h"

namespace soft {
namespace {

constexpr float kPostEpsilon = 1e-5f;   // SOFT layers, BN and the landmarks' norm
constexpr float kFinalEpsilon = 1e-6f;  // ViT blocks and the final norm
constexpr int64_t kTypicalRows = 96;    // of a tile; the packed layout hardly depends on it

// A linear layer that becomes a block of rows of a larger one, times `scale`.
struct Part {
  std::string name;
  float scale = 1;
};

class Packer {
 public:
  Packer(const Weights& weights, LinearForm form) : weights_(weights), form_(resolve(form)) {}

  std::vector<float> floats(const std::string& name) const {
    std::vector<float> values = to_floats(weights_.tensors.at(name));
    check_finite(name, values.data(), static_cast<int64_t>(values.size()));
    return values;
  }

  Norm norm(const std::string& name, float epsilon) const {
    return {floats(name + ".weight"), floats(name + ".bias"), epsilon};
  }

  // Linear layers of one input side by side: [in] -> [out of the first | out of the second | …].
  Dense linear(const std::vector<Part>& parts) {
    std::vector<float> bias;
    int64_t elements = 0, in = 0;
    for (const Part& part : parts) {
      in = shape(part.name + ".weight")[1];
      for (float value : floats(part.name + ".bias")) bias.push_back(part.scale * value);
      float* block = stage(part.name + ".weight", elements);
      const int64_t count = weights_.tensors.at(part.name + ".weight").elements();
      if (part.scale != 1) scale_by(block, count, part.scale);
      elements += count;
    }
    const DenseShape linear{in, static_cast<int64_t>(bias.size()), 1, 1, 0, false, form_};
    return pack_dense(linear, {kTypicalRows, 1}, staging_.data(), bias.data());
  }

  struct Convolution {
    int64_t stride;
    int64_t padding;
    Grid map;  // typical input
  };

  Dense convolution(const std::string& name, const Convolution& conv) {
    const float* weight = stage(name + ".weight", 0);
    const std::vector<float> bias = floats(name + ".bias");
    return pack_dense(dense_shape(name, conv, false), conv.map, weight, bias.data());
  }

  // relu(BN(conv(x))) with BN's running statistics folded into the convolution.
  Dense convolution_bn(const std::string& name, const std::string& norm, const Convolution& conv) {
    float* weight = stage(name + ".weight", 0);
    std::vector<float> bias = floats(name + ".bias");
    const std::vector<float> gamma = floats(norm + ".weight"), beta = floats(norm + ".bias");
    const std::vector<float> mean = floats(norm + ".running_mean");
    const std::vector<float> variance = floats(norm + ".running_var");
    const DenseShape shape = dense_shape(name, conv, true);
    const int64_t taps = shape.in * shape.kernel * shape.kernel;
    for (int64_t c = 0; c < shape.out; ++c) {
      const float factor = gamma[c] / std::sqrt(variance[c] + kPostEpsilon);
      scale_by(weight + c * taps, taps, factor);
      bias[c] = (bias[c] - mean[c]) * factor + beta[c];
    }
    return pack_dense(shape, conv.map, weight, bias.data());
  }

 private:
  const std::vector<int64_t>& shape(const std::string& name) const {
    return weights_.tensors.at(name).shape;
  }

  DenseShape dense_shape(const std::string& name, const Convolution& conv, bool relu) const {
    const std::vector<int64_t>& sides = shape(name + ".weight");  // [out, in, k, k]
    return {sides[1], sides[0], sides[2], conv.stride, conv.padding, relu};
  }

  // A ReLU of oneDNN turns NaN into 0, so that a damaged file would give plausible logits.
  void check_finite(const std::string& name, const float* values, int64_t count) const {
    bool finite = true;
    for (int64_t i = 0; i < count; ++i) finite &= std::abs(values[i]) <= FLT_MAX;
    if (!finite) fail("{} in '{}' holds values that are not finite", name, weights_.path);
  }

  // The tensor as float32 at this offset of the staging memory.
  float* stage(const std::string& name, int64_t offset) {
    const TensorView& tensor = weights_.tensors.at(name);
    const auto end = static_cast<size_t>(offset + tensor.elements());
    if (staging_.size() < end) staging_.resize(end);
    copy_floats(tensor, staging_.data() + offset);
    check_finite(name, staging_.data() + offset, tensor.elements());
    return staging_.data() + offset;
  }

  static void scale_by(float* values, int64_t count, float factor) {
    for (int64_t i = 0; i < count; ++i) values[i] *= factor;
  }

  const Weights& weights_;
  LinearForm form_;
  std::vector<float> staging_;
};

Grid square(int side) { return {side, side}; }

std::vector<Dense> pack_embed(Packer& packer, const ModelSpec& spec, int stage) {
  const std::string proj = fmt::format("patch_embed{}.proj.", stage + 1);
  const auto& strides = spec.stem_strides;
  std::vector<Dense> convs;
  if (!spec.pyramid) {
    convs.push_back(packer.convolution(proj + "0", {spec.patch, 0, square(spec.image_size)}));
    return convs;
  }
  const Grid image = square(spec.image_size);
  const Grid input = stage == 0 ? image : stage_grid(spec, stage - 1, image);
  if (!spec.overlap) {
    const int64_t side = stage == 0 ? strides[0] * strides[1] * strides[2] : 2;
    convs.push_back(packer.convolution(proj + "0", {side, 0, input}));
    return convs;
  }
  Grid map = input;
  for (int i = 0; i < (stage == 0 ? 3 : 1); ++i) {
    const std::string conv = proj + std::to_string(3 * i);  // conv 0, BN 1, ReLU 2, conv 3, …
    const std::string norm = proj + std::to_string(3 * i + 1);
    convs.push_back(packer.convolution_bn(conv, norm, {stage == 0 ? strides[i] : 2, 1, map}));
    map = convs.back().shape.output(map);
  }
  return convs;
}

void pack_mixer(Packer& packer, const std::string& prefix, PackedLayer& layer) {
  const AttentionSpec& spec = layer.attention;
  const bool dense = spec.mechanism == Mechanism::kSoftDense;
  if (dense || (uses_landmarks(spec.mechanism) && spec.sampler == Sampler::kConv)) {
    const Grid window = square(dense ? 1 : spec.ratio);
    const std::vector<float> stored = packer.floats(prefix + "Qlandmark_op.weight");
    layer.landmark_weight.resize(stored.size());
    pack_landmark_weight(spec.head_dim(), window, stored.data(), layer.landmark_weight.data());
    layer.landmark_norm = packer.norm(prefix + "Qnorm_act.0", kPostEpsilon);
  }
  if (spec.value_kernel > 0) layer.value_kernel = packer.floats(prefix + "conv.weight");
}

PackedLayer pack_layer(Packer& packer, const AttentionSpec& attention, const std::string& block) {
  PackedLayer layer;
  layer.attention = attention;
  const bool post = layer.post();
  const std::string att = block + (post ? "att.mha." : "attn.");
  const std::string mlp = block + (post ? "att." : "mlp.");
  const std::string norm = block + (post ? "att.norm" : "norm");
  const float epsilon = post ? kPostEpsilon : kFinalEpsilon;
  if (attention.mechanism == Mechanism::kSoftmax) {
    layer.project = packer.linear({{att + "q"}, {att + "kv"}});
  } else {
    const auto quarter_root = static_cast<float>(std::pow(attention.head_dim(), -0.25));
    layer.project =
        packer.linear({{att + (post ? "W_q" : "q"), quarter_root}, {att + (post ? "W_v" : "v")}});
  }
  layer.merge = packer.linear({{att + (post ? "ff" : "proj")}});
  layer.up = packer.linear({{mlp + (post ? "ff1" : "fc1")}});
  layer.down = packer.linear({{mlp + (post ? "ff2" : "fc2")}});
  layer.norm1 = packer.norm(norm + "1", epsilon);
  layer.norm2 = packer.norm(norm + "2", epsilon);
  pack_mixer(packer, att + "attn.", layer);
  return layer;
}

PackedStage pack_stage(Packer& packer, const ModelSpec& spec, int index) {
  PackedStage stage;
  stage.embed = pack_embed(packer, spec, index);
  if (spec.pyramid && !spec.overlap) {
    stage.embed_norm = packer.norm(fmt::format("patch_embed{}.proj.1", index + 1), kPostEpsilon);
  }
  stage.made_for = stage_grid(spec, index, square(spec.image_size));
  stage.prefix = has_class_token(spec, index) ? 1 : 0;
  stage.positions = packer.floats(fmt::format("pos_embed{}", index + 1));
  for (int i = 0; i < spec.stages[index].depth; ++i) {
    const std::string block = fmt::format("block{}.{}.", index + 1, i);
    stage.layers.push_back(pack_layer(packer, attention_of(spec, index), block));
  }
  return stage;
}

size_t bytes_of(const std::vector<float>& floats) { return floats.size() * sizeof(float); }
size_t bytes_of(const Norm& norm) { return bytes_of(norm.gamma) + bytes_of(norm.beta); }

size_t bytes_of(const PackedLayer& layer) {
  return layer.project.bytes() + layer.merge.bytes() + layer.up.bytes() + layer.down.bytes() +
         bytes_of(layer.norm1) + bytes_of(layer.norm2) + bytes_of(layer.landmark_weight) +
         bytes_of(layer.landmark_norm) + bytes_of(layer.value_kernel);
}

}  // namespace

size_t Network::bytes() const {
  size_t sum = bytes_of(class_token) + bytes_of(norm) + head.bytes();
  for (const PackedStage& stage : stages) {
    sum += bytes_of(stage.positions) + bytes_of(stage.embed_norm);
    for (const Dense& conv : stage.embed) sum += conv.bytes();
    for (const PackedLayer& layer : stage.layers) sum += bytes_of(layer);
  }
  return sum;
}

std::string native_obstacle(const ModelSpec& spec) {
  if (!uses_landmarks(spec.attention)) {
    return fmt::format("the native engine runs attention=soft and soft-norm, not {}",
                       name_of(spec.attention));
  }
  if (spec.sampler == Sampler::kRandom) {
    return "sampler=random draws its landmarks with LibTorch's generator, which the native engine "
           "does not have";
  }
  return "";
}

Network pack_network(const Weights& weights, const ModelSpec& spec, LinearForm form) {
  validate(spec);
  const std::string obstacle = native_obstacle(spec);
  if (!obstacle.empty()) fail_usage("{}; use --engine torch", obstacle);
  check_fit(weights, spec);
  Packer packer(weights, form);
  Network network;
  network.spec = spec;
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    network.stages.push_back(pack_stage(packer, spec, s));
  }
  if (spec.class_token) network.class_token = packer.floats("cls_token");
  network.norm = packer.norm("norm", kFinalEpsilon);
  network.head = packer.linear({{"head"}});
  return network;
}

Packed::Packed(const Weights& weights, const ModelSpec& spec, LinearForm form)
    : network_(std::make_shared<const Network>(pack_network(weights, spec, form))) {}

const ModelSpec& Packed::spec() const { return network_->spec; }
size_t Packed::bytes() const { return network_->bytes(); }

}  // namespace soft
