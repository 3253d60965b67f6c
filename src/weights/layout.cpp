// The tensors of a model under their published names.
#include <fmt/format.h>

#include <utility>

#include "spec/model_spec.h"
#include "weights/weights.h"

namespace soft {
namespace {

class Layout {
 public:
  void add(const std::string& name, std::vector<int64_t> shape, bool trained = true) {
    tensors_.push_back({name, std::move(shape), trained});
  }
  void linear(const std::string& name, int64_t in, int64_t out) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void conv(const std::string& name, int64_t in, int64_t out, int64_t kernel) {
    add(name + ".weight", {out, in, kernel, kernel});
    add(name + ".bias", {out});
  }
  void norm(const std::string& name, int64_t dim) {
    add(name + ".weight", {dim});
    add(name + ".bias", {dim});
  }
  void batch_norm(const std::string& name, int64_t dim) {
    norm(name, dim);
    add(name + ".running_mean", {dim}, false);
    add(name + ".running_var", {dim}, false);
  }
  std::vector<TensorShape> take() { return std::move(tensors_); }

 private:
  std::vector<TensorShape> tensors_;
};

// Convolution, BN and ReLU are consecutive children: 0, 1, (2), 3, 4, (5), 6, 7.
void add_conv_bn(Layout& layout, const std::string& proj, int first, int64_t in, int64_t out) {
  layout.conv(proj + std::to_string(first), in, out, 3);
  layout.batch_norm(proj + std::to_string(first + 1), out);
}

void add_patch_embed(Layout& layout, const ModelSpec& spec, int stage) {
  const std::string proj = fmt::format("patch_embed{}.proj.", stage + 1);
  const int64_t in = stage == 0 ? 3 : spec.stages[stage - 1].dim;
  const int64_t dim = spec.stages[stage].dim;
  if (!spec.pyramid) {
    layout.conv(proj + "0", in, dim, spec.patch);
  } else if (!spec.overlap) {
    const auto& strides = spec.stem_strides;
    layout.conv(proj + "0", in, dim, stage == 0 ? strides[0] * strides[1] * strides[2] : 2);
    layout.norm(proj + "1", dim);
  } else if (stage > 0) {
    add_conv_bn(layout, proj, 0, in, dim);
  } else {
    add_conv_bn(layout, proj, 0, in, spec.stem_dim);
    add_conv_bn(layout, proj, 3, spec.stem_dim, spec.stem_dim);
    add_conv_bn(layout, proj, 6, spec.stem_dim, dim);
  }
}

std::vector<int64_t> window(const AttentionSpec& attention, int64_t out, int64_t in, int64_t side) {
  if (attention.sequence) return {out, in, side};
  return {out, in, side, side};
}

// Linformer's E: rows over a whole sequence, or a convolution whose stride is its side.
void add_projection(Layout& layout, const AttentionSpec& attention, const std::string& prefix) {
  const int64_t d = attention.head_dim(), r = attention.ratio;
  if (attention.sequence) {
    layout.add(prefix + "E", {attention.heads, attention.projection, attention.longest});
  } else {
    layout.add(prefix + "E", {d, d, r, r});
  }
}

// What the mechanism itself learns or draws, and the value path.
void add_mixer(Layout& layout, const AttentionSpec& attention, const std::string& prefix) {
  const int64_t d = attention.head_dim();
  const bool dense = attention.mechanism == Mechanism::kSoftDense;
  const bool sampled = uses_landmarks(attention.mechanism) && attention.sampler == Sampler::kConv;
  if (dense) layout.add(prefix + "Qlandmark_op.weight", {d, d});
  if (sampled) {
    layout.add(prefix + "Qlandmark_op.weight", window(attention, d, d, attention.ratio));
  }
  if (dense || sampled) layout.norm(prefix + "Qnorm_act.0", d);
  if (attention.mechanism == Mechanism::kLinformer) add_projection(layout, attention, prefix);
  if (attention.mechanism == Mechanism::kPerformer) {
    layout.add(prefix + std::string(kFeaturesName), {feature_count(attention), d}, false);
  }
  if (attention.value_kernel > 0) {
    layout.add(prefix + "conv.weight",
               window(attention, attention.heads, 1, attention.value_kernel));
  }
}

void add_post_layer(Layout& layout, const AttentionSpec& attention, int64_t hidden,
                    const std::string& block) {
  const int64_t dim = attention.dim;
  const std::string att = block + "att.";
  layout.linear(att + "mha.W_q", dim, dim);
  if (!shares_query_and_key(attention.mechanism)) layout.linear(att + "mha.W_k", dim, dim);
  layout.linear(att + "mha.W_v", dim, dim);
  add_mixer(layout, attention, att + "mha.attn.");
  layout.linear(att + "mha.ff", dim, dim);
  layout.norm(att + "norm1", dim);
  layout.norm(att + "norm2", dim);
  layout.linear(att + "ff1", dim, hidden);
  layout.linear(att + "ff2", hidden, dim);
}

void add_pre_layer(Layout& layout, const AttentionSpec& attention, int64_t hidden,
                   const std::string& block) {
  const int64_t dim = attention.dim;
  layout.norm(block + "norm1", dim);
  layout.linear(block + "attn.q", dim, dim);
  if (shares_query_and_key(attention.mechanism)) {
    layout.linear(block + "attn.v", dim, dim);
  } else {
    layout.linear(block + "attn.kv", dim, 2 * dim);
  }
  add_mixer(layout, attention, block + "attn.attn.");
  layout.linear(block + "attn.proj", dim, dim);
  layout.norm(block + "norm2", dim);
  layout.linear(block + "mlp.fc1", dim, hidden);
  layout.linear(block + "mlp.fc2", hidden, dim);
}

void add_layer(Layout& layout, const AttentionSpec& attention, int mlp_ratio,
               const std::string& block) {
  const int64_t hidden = int64_t{mlp_ratio} * attention.dim;
  if (attention.names == LayerForm::kPost) {
    add_post_layer(layout, attention, hidden, block);
  } else {
    add_pre_layer(layout, attention, hidden, block);
  }
}

void add_positions(Layout& layout, const ModelSpec& spec) {
  const Grid trained{spec.image_size, spec.image_size};
  const int count = static_cast<int>(spec.stages.size());
  for (int s = 0; s < count; ++s) {
    const int64_t tokens = stage_grid(spec, s, trained).size() + (has_class_token(spec, s) ? 1 : 0);
    layout.add(fmt::format("pos_embed{}", s + 1), {1, tokens, spec.stages[s].dim});
  }
  if (spec.class_token) layout.add("cls_token", {1, 1, spec.stages.back().dim});
}

}  // namespace

std::vector<TensorShape> layer_tensors(const AttentionSpec& attention, int mlp_ratio,
                                       const std::string& prefix) {
  Layout layout;
  add_layer(layout, attention, mlp_ratio, prefix);
  return layout.take();
}

std::vector<TensorShape> tensors_of(const ModelSpec& spec) {
  Layout layout;
  add_positions(layout, spec);
  for (int s = 0; s < static_cast<int>(spec.stages.size()); ++s) {
    add_patch_embed(layout, spec, s);
    const AttentionSpec attention = attention_of(spec, s);
    for (int i = 0; i < spec.stages[s].depth; ++i) {
      add_layer(layout, attention, spec.mlp_ratio, fmt::format("block{}.{}.", s + 1, i));
    }
  }
  layout.norm("norm", spec.stages.back().dim);
  layout.linear("head", spec.stages.back().dim, spec.classes);
  return layout.take();
}

}  // namespace soft
