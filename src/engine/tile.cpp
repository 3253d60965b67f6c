#include "engine/tile.h"

#include "kernels/layer_norm.h"

namespace soft {
namespace {

LayerNorm layer_norm_of(const Norm& norm, int64_t rows) {
  return {rows, static_cast<int64_t>(norm.gamma.size()), norm.gamma.data(), norm.beta.data(),
          norm.epsilon};
}

void norm_in_place(const Norm& norm, int64_t rows, float* x) {
  const auto dim = static_cast<int64_t>(norm.gamma.size());
  layer_norm(layer_norm_of(norm, rows), {x, dim}, {}, {x, dim}, {}, nullptr);
}

}  // namespace

// out = LN(x + branch); the sum itself is kept in `sum` unless that is null.
void TilePass::norm_sum(const Norm& norm, const float* branch, float* out, float* sum) const {
  const auto dim = static_cast<int64_t>(norm.gamma.size());
  layer_norm(layer_norm_of(norm, rows_.count), {rows_.x, dim}, {branch, dim}, {out, dim},
             {sum, dim}, nullptr);
}

void TilePass::project(const PackedLayer& layer, const float* input) const {
  code_.project.run(worker_, layer.project, rows_.count, input, rows_.projected);
}

// branch = W2·gelu(W1·input + b1) + b2
void TilePass::perceptron(const PackedLayer& layer, const float* input) const {
  code_.up.run(worker_, layer.up, rows_.count, input, rows_.hidden);
  const GeluForm form = layer.post() ? GeluForm::kTanh : GeluForm::kErf;
  code_.down.run_gelu(worker_, layer.down, form, rows_.count, rows_.hidden, rows_.branch);
}

void TilePass::enter(const PackedStage& stage, const float* positions, int64_t skip) const {
  const int64_t dim = stage.dim();
  if (!stage.embed_norm.gamma.empty()) {
    norm_in_place(stage.embed_norm, rows_.count - skip, rows_.x + skip * dim);
  }
  const PackedLayer& layer = stage.layers.front();
  if (layer.post()) {
    for (int64_t i = 0; i < rows_.count * dim; ++i) rows_.x[i] += positions[i];
    project(layer, rows_.x);
  } else {
    norm_sum(layer.norm1, positions, rows_.normed, rows_.x);
    project(layer, rows_.normed);
  }
}

void TilePass::leave(const PackedLayer& layer, const Following& next) const {
  code_.merge.run(worker_, layer.merge, rows_.count, rows_.mixed, rows_.branch);
  layer.post() ? leave_post(layer, next) : leave_pre(layer, next);
}

// y = LN(x + Attn(x));  z = LN(y + MLP(y))
void TilePass::leave_post(const PackedLayer& layer, const Following& next) const {
  norm_sum(layer.norm1, rows_.branch, rows_.x, nullptr);
  perceptron(layer, rows_.x);
  norm_sum(layer.norm2, rows_.branch, rows_.x, nullptr);
  if (next.layer != nullptr) project(*next.layer, rows_.x);
  if (next.last_norm != nullptr) norm_in_place(*next.last_norm, rows_.count, rows_.x);
}

// y = x + Attn(LN(x));  z = y + MLP(LN(y)), each sum taken together with the norm that follows it.
void TilePass::leave_pre(const PackedLayer& layer, const Following& next) const {
  norm_sum(layer.norm2, rows_.branch, rows_.normed, rows_.x);
  perceptron(layer, rows_.normed);
  if (next.layer != nullptr) {
    norm_sum(next.layer->norm1, rows_.branch, rows_.normed, rows_.x);
    project(*next.layer, rows_.normed);
  } else {
    norm_sum(*next.last_norm, rows_.branch, rows_.x, nullptr);
  }
}

}  // namespace soft
