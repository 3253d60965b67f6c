#include "wing/torch_case.h"

#include <limits>

#include "attention/attention.h"
#include "attention/fast_path.h"
#include "attention/inverse.h"
#include "train/loss.h"
#include "train/optimizer.h"
#include "train/recipe.h"
#include "wing/torch_guard.h"

namespace soft {
namespace {

using torch::Tensor;

Heads random_heads(const TorchMix& request) {
  const AttentionSpec& spec = request.spec;
  const std::vector<int64_t> shape{request.batch, spec.heads, request.grid.size(), spec.head_dim()};
  const auto make = [&] { return torch::randn(shape).set_requires_grad(request.backward); };
  Heads heads;
  heads.q = make();
  heads.k = shares_query_and_key(spec.mechanism) ? heads.q : make();
  heads.v = make();
  return heads;
}

// Mixes once and, when asked, goes back; no gradient outlives the call.
void mix_once(Attention& attention, const Heads& heads, const Tokens& tokens, bool backward) {
  if (!backward) {
    const torch::NoGradGuard no_grad;
    attention.attend(heads, tokens);
    return;
  }
  std::vector<Tensor> inputs{heads.q, heads.v};
  if (!heads.k.is_same(heads.q)) inputs.push_back(heads.k);
  torch::autograd::grad({attention.attend(heads, tokens).sum()}, inputs);
}

// |A V A - A| / |A| of every matrix, spectral norms; infinite where V is not finite: [N].
Tensor spectral_residual(const Tensor& a, const Tensor& v) {
  const Tensor off = torch::matmul(torch::matmul(a, v), a) - a;
  const Tensor finite = off.isfinite().flatten(1).all(1);
  const Tensor size = torch::linalg_matrix_norm(off.nan_to_num(0, 0, 0), 2);
  return torch::where(finite, size / torch::linalg_matrix_norm(a, 2),
                      torch::full_like(size, std::numeric_limits<double>::infinity()));
}

// Sums over the layers of one stage.
void add_to(StageTrace& trace, const Tensor& core, const InverseRule& rule) {
  const Tensor a = core.reshape({-1, core.size(-2), core.size(-1)});  // [N, m, m]
  InverseRule exactly = rule;
  exactly.mode = Inverse::kExact;
  exactly.epsilon = 0;
  const Tensor pseudo = inverse(a, exactly);
  const auto iterates = newton_iterates(a, rule);
  trace.residual.resize(iterates.size());
  trace.worst.resize(iterates.size());
  trace.distance.resize(iterates.size());
  for (size_t k = 0; k < iterates.size(); ++k) {
    const Tensor& v = iterates[k];
    const Tensor residual = spectral_residual(a, v);                                    // [N]
    const Tensor distance = (v - pseudo).norm(2, {-2, -1}) / pseudo.norm(2, {-2, -1});  // [N]
    trace.residual[k] += residual.sum().item<double>();
    trace.worst[k] = std::max(trace.worst[k], residual.max().item<double>());
    trace.distance[k] += distance.sum().item<double>();
  }
  trace.matrices += a.size(0);
}

void divide_by_count(StageTrace& trace) {
  for (double& sum : trace.residual) sum /= static_cast<double>(trace.matrices);
  for (double& sum : trace.distance) sum /= static_cast<double>(trace.matrices);
}

// The layers' matrices in the order in which the model inverts them.
std::vector<Tensor> cores_of(const TorchTrace& request) {
  const auto model = make_model(request.model);
  const torch::NoGradGuard no_grad;
  const FastPathScope plain(false);  // the kernels do not show them
  std::vector<Tensor> cores;
  const InverseWatch watch([&](const Tensor& core) { cores.push_back(core.clone()); });
  model->forward(torch::from_blob(const_cast<float*>(request.pixels.data()),
                                  {request.count, 3, request.size.h, request.size.w}));
  return cores;
}

}  // namespace

std::function<void()> repeated_step(const TorchStep& request) {
  keep_freed_memory();
  return guarded(request.threads, [&]() -> std::function<void()> {
    torch::manual_seed(0);
    const auto model = std::make_shared<Classifier>(request.spec);
    model->set_recompute(request.recompute);
    const Recipe recipe = preset_recipe("released", request.spec);
    const auto optimizer = std::make_shared<AdamW>(model->tensors(), recipe);
    const Tensor images = torch::randn({request.batch, 3, request.size.h, request.size.w});
    const Tensor targets = torch::randn({request.batch, request.spec.classes}).softmax(1);
    return [=] {
      guarded(request.threads, [&] {
        const FastPathScope path(request.fused);
        optimizer->zero_grad();
        soft_cross_entropy(model->forward(images), targets).backward();
        const double norm = global_norm(optimizer->gradients());
        optimizer->step(1e-4, clip_factor(norm, recipe.clip));
        return true;
      });
    };
  });
}

std::function<void()> repeated_mix(const TorchMix& request) {
  keep_freed_memory();
  return guarded(request.threads, [&]() -> std::function<void()> {
    torch::manual_seed(0);
    const auto attention = make_attention(request.spec);
    attention->train(request.backward);
    const Heads heads = random_heads(request);
    Tokens tokens;
    tokens.grid = request.grid;
    tokens.training = request.backward;
    return [=] {
      guarded(request.threads, [&] {
        const FastPathScope path(request.fused);
        mix_once(*attention, heads, tokens, request.backward);
        return true;
      });
    };
  });
}

std::vector<StageTrace> trace_inverse(const TorchTrace& request) {
  return guarded(request.model.threads, [&] {
    const torch::NoGradGuard no_grad;
    const std::vector<Tensor> cores = cores_of(request);
    const InverseRule rule{{request.mode, request.steps, request.model.spec.epsilon},
                           InverseGrad::kOneShot};
    std::vector<StageTrace> traces;
    size_t layer = 0;
    for (size_t stage = 0; stage < request.model.spec.stages.size(); ++stage) {
      StageTrace trace;
      trace.stage = static_cast<int>(stage) + 1;
      const size_t end = layer + static_cast<size_t>(request.model.spec.stages[stage].depth);
      for (; layer < std::min(end, cores.size()); ++layer) add_to(trace, cores[layer], rule);
      divide_by_count(trace);
      if (trace.matrices > 0) traces.push_back(trace);
    }
    return traces;
  });
}

}  // namespace soft
