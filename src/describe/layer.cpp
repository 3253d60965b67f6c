#include "describe/layer.h"

namespace soft {
namespace {

constexpr double kPostEpsilon = 1e-5, kPreEpsilon = 1e-6;

// Published names of SOFT's layers, and of ViT's blocks.
struct LayerNames {
  LayerNames(LayerForm form, const std::string& prefix) {
    const bool post = form == LayerForm::kPost;
    const std::string attention = prefix + (post ? "att.mha." : "attn.");
    const std::string outer = prefix + (post ? "att." : ""),
                      mlp = prefix + (post ? "att." : "mlp.");
    query = attention + (post ? "W_q" : "q");
    key = attention + "W_k";
    value = attention + (post ? "W_v" : "v");
    key_value = attention + "kv";
    mix = attention + "attn";
    merge = attention + (post ? "ff" : "proj");
    norm1 = outer + "norm1";
    norm2 = outer + "norm2";
    up = mlp + (post ? "ff1" : "fc1");
    down = mlp + (post ? "ff2" : "fc2");
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
  } else if (spec.names == LayerForm::kPre) {
    const int both = net.linear(x, names.key_value, 2 * dim);
    key = net.slice(both, {1, 0, dim});
    value = net.slice(both, {1, dim, dim});
  } else {
    key = net.linear(x, names.key, dim);
    value = net.linear(x, names.value, dim);
  }
  const int mixed = net.mix({query, key, value}, names.mix, {spec, shape.grid, shape.prefix});
  return net.linear(mixed, names.merge, dim);
}

int mlp(Builder& net, int x, const LayerShape& shape, const LayerNames& names) {
  const int hidden = net.linear(x, names.up, shape.hidden);
  const Wide tokens = net.shape(x)[0];
  net.alive(hidden, tokens * (shape.attention.dim + shape.hidden));
  const bool post = shape.attention.names == LayerForm::kPost;
  return net.linear(net.activate(hidden, post ? Curve::kTanhGelu : Curve::kErfGelu), names.down,
                    shape.attention.dim);
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
  const int normed = net.layer_norm(x, names.norm1, kPreEpsilon);
  const int y = net.residual(x, attention(net, normed, shape, names), residual);
  return net.residual(y, mlp(net, net.layer_norm(y, names.norm2, kPreEpsilon), shape, names),
                      residual);
}

}  // namespace

int add_layer(Builder& net, int x, const LayerShape& shape, const std::string& prefix) {
  const LayerNames names(shape.attention.names, prefix);
  return shape.attention.names == LayerForm::kPost ? post_layer(net, x, shape, names)
                                                   : pre_layer(net, x, shape, names);
}

}  // namespace soft
