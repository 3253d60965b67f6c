// The whole network in its plain form: double precision, one loop after another, nothing packed,
// folded, tiled or fused. The oracle for every switch of the SOFT family.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/plain_layers.h"
#include "kernels/plain/inverse.h"
#include "kernels/plain/landmarks.h"
#include "kernels/plain/soft_attention.h"
#include "kernels/plain/softmax_attention.h"
#include "kernels/plain/value_path.h"
#include "spec/landmark_count.h"

namespace soft::test {

class PlainModel : private PlainLayers {
 public:
  PlainModel(const Weights& weights, const ModelSpec& spec) : PlainLayers(weights), spec_(spec) {}

  // pixels [3, H, W] -> logits
  Doubles logits(const float* pixels, Grid image) const {
    const PlainTokens last = run(pixels, image, static_cast<int>(spec_.stages.size()));
    const Doubles normed = norm("norm", 1e-6, last.x);
    Doubles pooled(last.dim);
    const int64_t rows = last.prefix > 0 ? 1 : last.count();
    for (int64_t i = 0; i < rows * last.dim; ++i) pooled[i % last.dim] += normed[i] / rows;
    return linear("head", pooled);
  }

  // Sums of row `token` of every head's matrix in the first layer of a stage without class token.
  Doubles row_sums(const float* pixels, Grid image, int stage, int64_t token) const {
    const PlainTokens tokens = enter(stage, run(pixels, image, stage));
    const AttentionSpec spec = attention_of(spec_, stage);
    const std::string name = "block" + std::to_string(stage + 1) + ".0.att.mha.";
    const Doubles q = linear(name + "W_q", tokens.x);
    const int64_t d = spec.head_dim();
    Doubles sums;
    for (int64_t head = 0; head < spec.heads; ++head) {
      const Doubles ones(tokens.count() * d, 1.0);
      const Doubles y = soft(spec, name + "attn.", tokens, columns(q, spec.dim, head * d, d), ones);
      sums.push_back(y[token * d]);
    }
    return sums;
  }

  // The tokens after so many stages.
  PlainTokens run(const float* pixels, Grid image, int stages) const {
    PlainTokens tokens{image, 3, 0, Doubles(3 * image.size())};
    for (int64_t i = 0; i < image.size(); ++i) {
      for (int64_t c = 0; c < 3; ++c) tokens.x[i * 3 + c] = pixels[c * image.size() + i];
    }
    for (int s = 0; s < stages; ++s) {
      tokens = enter(s, tokens);
      for (int i = 0; i < spec_.stages[s].depth; ++i) layer(s, i, tokens);
    }
    return tokens;
  }

 private:
  PlainTokens embed(int stage, const PlainTokens& map) const {
    const std::string proj = "patch_embed" + std::to_string(stage + 1) + ".proj.";
    const auto& strides = spec_.stem_strides;
    if (!spec_.pyramid) return convolution(proj + "0", {spec_.patch, spec_.patch, 0}, map);
    if (!spec_.overlap) {
      const int64_t side = stage == 0 ? strides[0] * strides[1] * strides[2] : 2;
      PlainTokens tokens = convolution(proj + "0", {side, side, 0}, map);
      tokens.x = norm(proj + "1", 1e-5, tokens.x);
      return tokens;
    }
    PlainTokens tokens = map;
    for (int i = 0; i < (stage == 0 ? 3 : 1); ++i) {
      const int64_t stride = stage == 0 ? strides[i] : 2;
      tokens = convolution(proj + std::to_string(3 * i), {3, stride, 1}, tokens);
      batch_norm_relu(proj + std::to_string(3 * i + 1), tokens);
    }
    return tokens;
  }

  Doubles positions(int stage, Grid grid) const {
    const Doubles stored = tensor("pos_embed" + std::to_string(stage + 1));
    const Grid made = stage_grid(spec_, stage, {spec_.image_size, spec_.image_size});
    const int64_t dim = spec_.stages[stage].dim;
    const int64_t prefix = has_class_token(spec_, stage) ? 1 : 0;
    Doubles resized(stored.begin(), stored.begin() + prefix * dim);
    const auto place = [](int64_t i, int64_t in, int64_t out) {
      return std::max(0.0, (i + 0.5) * in / out - 0.5);
    };
    for (int64_t p = 0; p < grid.size(); ++p) {
      const double y = place(p / grid.w, made.h, grid.h), x = place(p % grid.w, made.w, grid.w);
      const auto row = static_cast<int64_t>(y), column = static_cast<int64_t>(x);
      for (int64_t c = 0; c < dim; ++c) {
        double sum = 0;
        for (int64_t corner = 0; corner < 4; ++corner) {
          const int64_t down = corner / 2, right = corner % 2;
          const int64_t i = std::min(row + down, made.h - 1),
                        j = std::min(column + right, made.w - 1);
          const double share =
              (down ? y - row : 1 - y + row) * (right ? x - column : 1 - x + column);
          sum += share * stored[(prefix + i * made.w + j) * dim + c];
        }
        resized.push_back(sum);
      }
    }
    return resized;
  }

  PlainTokens enter(int stage, const PlainTokens& map) const {
    PlainTokens tokens = embed(stage, map);
    if (has_class_token(spec_, stage)) {
      const Doubles token = tensor("cls_token");
      tokens.x.insert(tokens.x.begin(), token.begin(), token.end());
      tokens.prefix = 1;
    }
    const Doubles place = positions(stage, tokens.grid);
    for (size_t i = 0; i < place.size(); ++i) tokens.x[i] += place[i];
    return tokens;
  }

  static void add(Doubles& x, const Doubles& branch) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += branch[i];
  }

  Doubles perceptron(const std::string& up, const std::string& down, GeluForm form,
                     const Doubles& x) const {
    Doubles hidden = linear(up, x);
    for (double& value : hidden) value = plain::gelu(form, value);
    return linear(down, hidden);
  }

  void layer(int stage, int index, PlainTokens& tokens) const {
    const AttentionSpec spec = attention_of(spec_, stage);
    const std::string block =
        "block" + std::to_string(stage + 1) + "." + std::to_string(index) + ".";
    Doubles& x = tokens.x;
    if (spec.names == LayerForm::kPost) {
      add(x, attend(spec, block + "att.mha.", tokens, x));
      x = norm(block + "att.norm1", 1e-5, x);
      add(x, perceptron(block + "att.ff1", block + "att.ff2", GeluForm::kTanh, x));
      x = norm(block + "att.norm2", 1e-5, x);
    } else {
      add(x, attend(spec, block + "attn.", tokens, norm(block + "norm1", 1e-6, x)));
      add(x, perceptron(block + "mlp.fc1", block + "mlp.fc2", GeluForm::kErf,
                        norm(block + "norm2", 1e-6, x)));
    }
  }

  // Columns [begin, begin + count) of every row.
  static Doubles columns(const Doubles& x, int64_t width, int64_t begin, int64_t count) {
    Doubles out;
    for (size_t row = 0; row < x.size(); row += width) {
      out.insert(out.end(), x.begin() + row + begin, x.begin() + row + begin + count);
    }
    return out;
  }

  Doubles attend(const AttentionSpec& spec, const std::string& name, const PlainTokens& tokens,
                 const Doubles& x) const {
    const bool post = spec.names == LayerForm::kPost,
               softmax = spec.mechanism == Mechanism::kSoftmax;
    const int64_t dim = spec.dim, d = spec.head_dim(), n = tokens.count();
    const Doubles q = linear(name + (post ? "W_q" : "q"), x);
    const Doubles kv = linear(name + (post ? "W_v" : softmax ? "kv" : "v"), x);
    const int64_t width = softmax ? 2 * dim : dim;
    Doubles merged(n * dim);
    for (int64_t head = 0; head < spec.heads; ++head) {
      const Doubles own_q = columns(q, dim, head * d, d);
      const Doubles own_v = columns(kv, width, width - dim + head * d, d);
      Doubles y(n * d);
      if (softmax) {
        const Doubles own_k = columns(kv, width, head * d, d);
        plain::softmax_attention(n, d, 1 / std::sqrt(double(d)), own_q.data(), own_k.data(),
                                 own_v.data(), y.data());
      } else if (spec.mechanism != Mechanism::kNone) {
        y = soft(spec, name + "attn.", tokens, own_q, own_v);
      }
      add_value_path(spec, name + "attn.conv.weight", head, tokens, own_v, y);
      for (int64_t i = 0; i < n * d; ++i) merged[i / d * dim + head * d + i % d] = y[i];
    }
    return linear(name + (post ? "ff" : "proj"), merged);
  }

  void add_value_path(const AttentionSpec& spec, const std::string& name, int64_t head,
                      const PlainTokens& tokens, const Doubles& v, Doubles& y) const {
    const int64_t k = spec.value_kernel, front = tokens.prefix * spec.head_dim();
    if (k == 0) return;
    if (spec.mechanism == Mechanism::kSoftDense) {
      for (int64_t i = 0; i < front; ++i) y[i] += v[i];
    }
    plain::value_path<double>({tokens.grid, 1, spec.head_dim(), {k, k}},
                              tensor(name).data() + head * k * k, v.data() + front,
                              y.data() + front);
  }

  Doubles soft(const AttentionSpec& spec, const std::string& name, const PlainTokens& tokens,
               Doubles q, const Doubles& v) const {
    const int64_t d = spec.head_dim(), n = tokens.count();
    for (double& value : q) value /= std::pow(double(d), 0.25);
    if (spec.mechanism == Mechanism::kSoftDense) {
      const Doubles l = landmark_conv(name, windows_by_ratio({n, 1}, {1, 1}), d, q);
      Doubles a(n * n), y(n * d);
      plain::gaussian_self<double>(n, d, l.data(), nullptr, a.data());
      plain::gemm<double>({n, d, n}, {a.data(), n}, {v.data(), d}, y.data(), d);
      return y;
    }
    const Doubles on_grid(q.begin() + tokens.prefix * d, q.end());
    const Doubles l = landmarks(spec, name, tokens.grid, on_grid);
    const auto m = static_cast<int64_t>(l.size()) / d;
    const plain::SoftCase<double> c{n, m, d, q, v, l, {}, {}, 1.0, normalisation_of(spec)};
    return plain::soft_attention(c, inverse(spec, m, plain::landmark_kernel(c)));
  }

  static Doubles inverse(const AttentionSpec& spec, int64_t m, const Doubles& a) {
    if (spec.inverse == Inverse::kExact) return plain::exact_inverse(m, a, spec.epsilon);
    return plain::newton_inverse<double>({spec.inverse, spec.newton_steps, spec.epsilon}, m, a);
  }

  Doubles landmark_conv(const std::string& name, const Windows& windows, int64_t d,
                        const Doubles& q) const {
    const plain::LandmarkCase<double> conv{windows, d, tensor(name + "Qlandmark_op.weight"),
                                           tensor(name + "Qnorm_act.0.weight"),
                                           tensor(name + "Qnorm_act.0.bias")};
    return plain::landmark_conv(conv, q);
  }

  static Doubles pooled(const Windows& windows, int64_t d, const Doubles& q) {
    Doubles out(windows.count() * d);
    plain::average_pool<double>(windows, d, q.data(), 1.0, nullptr, out.data());
    return out;
  }

  Doubles landmarks(const AttentionSpec& spec, const std::string& name, Grid grid,
                    Doubles q) const {
    const int64_t d = spec.head_dim();
    if (spec.sampler == Sampler::kBiased) {
      return Doubles(q.begin(), q.begin() + landmark_count(spec, grid) * d);
    }
    if (spec.landmarks > 0) {
      const int64_t side = std::llround(std::sqrt(spec.landmarks)) * spec.ratio;
      q = pooled(adaptive_windows(grid, {side, side}), d, q);
      grid = {side, side};
    }
    const Windows windows = windows_by_ratio(grid, {spec.ratio, spec.ratio});
    if (spec.sampler == Sampler::kAvg) return pooled(windows, d, q);
    Doubles l = landmark_conv(name, windows, d, q);
    const double scale = spec.kernel_scale == KernelScale::kPaper ? std::pow(double(d), -0.25) : 1;
    for (double& value : l) value *= scale;
    return l;
  }

  ModelSpec spec_;
};

}  // namespace soft::test
