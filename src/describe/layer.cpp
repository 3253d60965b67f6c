#include "describe/layer.h"

namespace soft {
namespace {

constexpr double kPostEpsilon = 1e-5, kPreEpsilon = 1e-6, kSequenceEpsilon = 1e-5;

bool is_post(const AttentionSpec& spec) { return !spec.sequence && spec.names == LayerForm::kPost; }

// Published names of SOFT's layers and of ViT's blocks; those of sequences have no groups.
struct LayerNames {
  LayerNames(const AttentionSpec& spec, const std::string& prefix) {
    const bool soft = spec.sequence || is_post(spec);
    const auto group = [&](const char* post, const char* pre) {
      return prefix + (spec.sequence ? "" : soft ? post : pre);
    };
    const std::string attention = group("att.mha.", "attn."), mlp = group("att.", "mlp.");
    query = attention + (soft ? "W_q" : "q");
    key = attention + "W_k";
    value = attention + (soft ? "W_v" : "v");
    key_value = attention + "kv";
    mix = attention + "attn";
    merge = attention + (soft ? "ff" : "proj");
    norm1 = group("att.", "") + "norm1";
    norm2 = group("att.", "") + "norm2";
    up = mlp + (soft ? "ff1" : "fc1");
    down = mlp + (soft ? "ff2" : "fc2");
  }
  std::string query, key, value, key_value, mix, merge, norm1, norm2, up, down;
};

int attention(Builder& net, int x, const LayerShape& shape, const LayerNames& names) {
  const AttentionSpec& spec = shape.attention;
  const int64_t dim = spec.dim;
  const int query = net.linear(x, names.query, dim);
  int key = query, value = 0;
  if (shares_query_and_key(spec.mechanism)) {
    value = net.linear(x, names.value, dim);
  } else if (!spec.sequence && spec.names == LayerForm::kPre) {
    const int both = net.linear(x, names.key_value, 2 * dim);
    key = net.slice(both, {1, 0, dim});
    value = net.slice(both, {1, dim, dim});
  } else {
    key = net.linear(x, names.key, dim);
    value = net.linear(x, names.value, dim);
  }
  const int mixed =
      net.mix({query, key, value}, names.mix, {spec, shape.grid, shape.prefix, shape.dropout});
  return net.linear(mixed, names.merge, dim);
}

int mlp(Builder& net, int x, const LayerShape& shape, const LayerNames& names) {
  const int hidden = net.linear(x, names.up, shape.hidden);
  const Wide tokens = net.shape(x)[0];
  net.alive(hidden, tokens * (shape.attention.dim + shape.hidden));
  const Curve gelu = is_post(shape.attention) ? Curve::kTanhGelu : Curve::kErfGelu;
  const int bent = net.dropout(net.activate(hidden, gelu), shape.dropout);
  return net.linear(bent, names.down, shape.attention.dim);
}

int post_layer(Builder& net, int x, const LayerShape& shape, const LayerNames& names) {
  const op::Residual residual{shape.depth, false};
  const int y = net.residual(x, attention(net, x, shape, names), residual);
  net.declare_norm(names.norm1, shape.attention.dim);  // files hold both in front of the MLP
  net.declare_norm(names.norm2, shape.attention.dim);
  const int normed = net.layer_norm(y, names.norm1, kPostEpsilon);
  const int z = net.residual(normed, mlp(net, normed, shape, names), residual);
  return net.layer_norm(z, names.norm2, kPostEpsilon);
}

int pre_layer(Builder& net, int x, const LayerShape& shape, const LayerNames& names) {
  const op::Residual residual{shape.depth, true};
  const double epsilon = shape.attention.sequence ? kSequenceEpsilon : kPreEpsilon;
  const auto add_branch = [&](int to, const std::string& norm, const auto& branch) {
    const int y = branch(net, net.layer_norm(to, norm, epsilon), shape, names);
    return net.residual(to, net.dropout(y, shape.dropout), residual);
  };
  return add_branch(add_branch(x, names.norm1, attention), names.norm2, mlp);
}

}  // namespace

int add_layer(Builder& net, int x, const LayerShape& shape, const std::string& prefix) {
  const LayerNames names(shape.attention, prefix);
  return is_post(shape.attention) ? post_layer(net, x, shape, names)
                                  : pre_layer(net, x, shape, names);
}

}  // namespace soft
