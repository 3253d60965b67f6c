#include "attention/fused.h"

#include <atomic>
#include <cmath>
#include <optional>

#include "attention/fast_path.h"
#include "attention/head_rows.h"
#include "attention/torch.h"
#include "kernels/soft_attention.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What forward and backward both read, all float32 on the CPU.
struct SoftTensors {
  Tensor q, v, landmarks;            // [B, h, n, d] twice, [B, h, m, d] dense
  Tensor token_mask, landmark_mask;  // [B, n] and [B, m] dense, or undefined

  int64_t batch() const { return q.size(0); }
  int64_t heads() const { return q.size(1); }
  int64_t landmark_count() const { return landmarks.size(2); }

  SoftHead head(int64_t b, int64_t h) const {
    SoftHead head;
    head.tokens = q.size(2);
    head.landmarks = landmarks.size(2);
    head.dim = q.size(3);
    head.q = rows_of(q, b, h);
    head.v = rows_of(v, b, h);
    head.landmark = matrix_of(landmarks, b, h);
    head.scale = std::pow(static_cast<float>(q.size(3)), -0.25f);
    head.token_mask = mask_of(token_mask, b);
    head.landmark_mask = mask_of(landmark_mask, b);
    return head;
  }
};

// Masks and settings travel beside the tensors that have gradients.
struct Request {
  InverseRule inverse;
  Normalise normalise = Normalise::kNone;
  Tensor token_mask, landmark_mask;
  std::optional<Windows> windows;  // landmarks are their means
};

std::vector<int64_t> as_numbers(const Windows& windows) {
  const auto& [map, out, step] = windows;
  return {map.h, map.w, out.h, out.w, step.h, step.w};
}

Windows as_windows(const std::vector<int64_t>& numbers) {
  return {{numbers[0], numbers[1]}, {numbers[2], numbers[3]}, {numbers[4], numbers[5]}};
}

class SoftMix : public torch::autograd::Function<SoftMix> {
 public:
  // `landmarks` is empty where the request has windows.
  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& v,
                        const Tensor& landmarks, const Request& request) {
    const std::optional<Windows>& windows = request.windows;
    const SoftTensors in{
        with_dense_rows(q), with_dense_rows(v),
        windows ? torch::empty({q.size(0), q.size(1), windows->count(), q.size(3)}, q.options())
                : landmarks.contiguous(),
        request.token_mask, request.landmark_mask};
    const int64_t m = in.landmark_count();
    const Tensor inverse = torch::empty({in.batch(), in.heads(), m, m}, q.options());
    const Tensor gathered = torch::empty({in.batch(), in.heads(), m, q.size(3)}, q.options());
    const Tensor sums = torch::empty({in.batch(), in.heads(), m}, q.options());
    Tensor y = empty_like_heads(q);
    const SoftOptions options{request.inverse, request.normalise};
    std::atomic<int64_t> fell_back{0};
    const SoftHead sizes = in.head(0, 0);
    const int64_t state_size = soft_state_size(sizes);
    for_each_head({in.batch(), in.heads()}, state_size + soft_tile_size(sizes),
                  [&](int64_t b, int64_t h, float* memory) {
                    const SoftHead head = in.head(b, h);
                    if (windows) {
                      average_pool(*windows, head.dim, head.q, head.scale, nullptr,
                                   matrix_of(in.landmarks, b, h));
                    }
                    SoftState state = soft_state(head, memory);
                    state.inverse = matrix_of(inverse, b, h);
                    state.gathered = matrix_of(gathered, b, h);
                    state.sums = matrix_of(sums, b, h);
                    float* tile = memory + state_size;
                    if (soft_prepare(head, options, state).fell_back) ++fell_back;
                    const int64_t chunks = token_chunks(head.tokens);
                    for (int64_t c = 0; c < chunks; ++c) soft_gather(head, state, c, tile);
                    soft_mix(head, state);
                    for (int64_t c = 0; c < chunks; ++c) {
                      soft_scatter(head, state, c, writable_rows_of(y, b, h), tile);
                    }
                  });
    count_fallbacks(fell_back);
    const bool by_rows = options.normalise == Normalise::kRows;
    context->save_for_backward({in.q, in.v, in.landmarks, in.token_mask, in.landmark_mask, inverse,
                                gathered, by_rows ? sums : Tensor(), by_rows ? y : Tensor()});
    context->saved_data["normalise"] = static_cast<int64_t>(options.normalise);
    if (windows) context->saved_data["windows"] = as_numbers(*windows);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const SoftTensors in{saved[0], saved[1], saved[2], saved[3], saved[4]};
    const Tensor &inverse = saved[5], &gathered = saved[6], &sums = saved[7], &y = saved[8];
    const Tensor grad_y = with_dense_rows(gradients[0]);
    const Tensor grad_q = empty_like_heads(in.q), grad_v = empty_like_heads(in.q);
    const Tensor grad_landmarks = torch::empty_like(in.landmarks);
    SoftOptions options;  // the inverse itself is saved, not computed again
    options.normalise = static_cast<Normalise>(context->saved_data["normalise"].toInt());
    std::optional<Windows> windows;
    if (context->saved_data.count("windows") > 0) {
      windows = as_windows(context->saved_data["windows"].toIntVector());
    }
    for_each_head({in.batch(), in.heads()}, soft_backward_size(in.head(0, 0)),
                  [&](int64_t b, int64_t h, float* memory) {
                    SoftGradient gradient;
                    gradient.inverse = matrix_of(inverse, b, h);
                    gradient.gathered = matrix_of(gathered, b, h);
                    gradient.y = rows_of(grad_y, b, h);
                    gradient.q = writable_rows_of(grad_q, b, h);
                    gradient.v = writable_rows_of(grad_v, b, h);
                    gradient.landmark = matrix_of(grad_landmarks, b, h);
                    if (sums.defined()) {
                      gradient.sums = matrix_of(sums, b, h);
                      gradient.mixed = rows_of(y, b, h);
                    }
                    const SoftHead head = in.head(b, h);
                    soft_attention_backward(head, options, gradient, memory);
                    if (windows) {
                      average_pool_backward(*windows, head.dim, gradient.landmark, head.scale,
                                            nullptr, gradient.q);
                    }
                  });
    return {grad_q, grad_v, windows ? Tensor() : grad_landmarks, Tensor()};
  }
};

}  // namespace

bool fused_applies(const Heads& heads, const InverseRule& rule) {
  return fast_path_applies(heads.q) && fast_path_applies(heads.v) &&
         heads.v.size(3) == heads.q.size(3) &&
         (rule.grad == InverseGrad::kOneShot || !torch::GradMode::is_enabled());
}

Tensor fused_soft(const Heads& heads, const Landmarks& landmarks, const SoftRule& rule) {
  count_fast_path(FastPath::kSoft);
  const Request request{rule.inverse, rule.normalise, as_floats(rule.token_mask),
                        as_floats(landmarks.present), std::nullopt};
  return SoftMix::apply(heads.q, heads.v, landmarks.tokens, request);
}

Tensor fused_soft(const Heads& heads, const Windows& windows, const SoftRule& rule) {
  count_fast_path(FastPath::kSoft);
  return SoftMix::apply(heads.q, heads.v, torch::empty({0}),
                        Request{rule.inverse, rule.normalise, {}, {}, windows});
}

}  // namespace soft
