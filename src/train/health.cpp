#include "train/health.h"

#include <algorithm>
#include <utility>

#include "attention/inverse.h"
#include "attention/probe.h"
#include "attention/torch.h"
#include "base/error.h"

namespace soft {
namespace {

using torch::Tensor;

constexpr int64_t kNeighbourhood = 1;  // tokens around a query, in each direction

std::vector<double> per_head(const Tensor& values) {  // [h]
  const Tensor wide = values.to(torch::kFloat64).contiguous();
  return {wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel()};
}

Tensor rms(const Tensor& t) {  // [B, h, n, d] -> [h]
  return t.to(torch::kFloat64).square().mean({0, 2, 3}).sqrt();
}

// rms(Y) / rms(V), [B, h, n, d] each; NaN where V is 0.
std::vector<double> shares_of(const Tensor& y, const Tensor& v) {
  return per_head(rms(y) / rms(v));
}

// exp of the entropy of the eigenvalues' shares, mean over the pictures: [B, h, m, m] -> [h].
Tensor effective_rank(const Tensor& core) {
  const Tensor eigen = torch::linalg_eigvalsh(core.to(torch::kFloat64)).clamp_min(1e-12);
  const Tensor share = eigen / eigen.sum(-1, true);
  return (-(share * share.log()).sum(-1)).exp().mean(0);
}

// Four queries far from each other and from the edge, as tokens of the grid.
std::vector<int64_t> distant_queries(Grid grid) {
  std::vector<int64_t> queries;
  for (const int64_t y : {grid.h / 4, 3 * grid.h / 4}) {
    for (const int64_t x : {grid.w / 4, 3 * grid.w / 4}) queries.push_back(y * grid.w + x);
  }
  std::sort(queries.begin(), queries.end());
  queries.erase(std::unique(queries.begin(), queries.end()), queries.end());
  return queries;
}

// Tokens [n] that are in the neighbourhood of neither query.
Tensor elsewhere(Grid grid, int64_t a, int64_t b) {
  const Tensor keep = torch::ones({grid.h, grid.w}, torch::kBool);
  for (const int64_t query : {a, b}) {
    const int64_t y = query / grid.w, x = query % grid.w;
    const int64_t top = std::max<int64_t>(0, y - kNeighbourhood);
    const int64_t left = std::max<int64_t>(0, x - kNeighbourhood);
    const int64_t bottom = std::min(grid.h, y + kNeighbourhood + 1);
    const int64_t right = std::min(grid.w, x + kNeighbourhood + 1);
    keep.narrow(0, top, bottom - top).narrow(1, left, right - left).fill_(false);
  }
  return keep.flatten();
}

// Pearson's, over the last axis; rows without any variation are alike: [B, h, n] -> [B, h].
Tensor correlation(const Tensor& a, const Tensor& b) {
  const Tensor u = a - a.mean(-1, true), v = b - b.mean(-1, true);
  const Tensor size = (u.square().sum(-1) * v.square().sum(-1)).sqrt();
  return torch::where(size > 0, (u * v).sum(-1) / size.clamp_min(1e-300), torch::ones_like(size));
}

// Mean over pairs of queries and pictures: [h]; undefined where there are no two queries.
Tensor row_correlation(Attention& attention, const Heads& heads, const Tokens& tokens) {
  const std::vector<int64_t> queries = distant_queries(tokens.grid);
  std::vector<Tensor> rows;  // [B, h, n] each, class tokens aside
  for (const int64_t query : queries) {
    rows.push_back(attention.row(heads, tokens, tokens.prefix + query)
                       .narrow(2, tokens.prefix, tokens.grid.size())
                       .to(torch::kFloat64));
  }
  Tensor sum;
  int64_t pairs = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const Tensor keep = elsewhere(tokens.grid, queries[i], queries[j]);
      if (keep.sum().item<int64_t>() < 3) continue;
      const auto kept = [&](const Tensor& row) {
        return row.masked_select(keep).reshape({row.size(0), row.size(1), -1});
      };
      const Tensor mean = correlation(kept(rows[i]), kept(rows[j])).mean(0);  // [h]
      sum = sum.defined() ? sum + mean : mean;
      ++pairs;
    }
  }
  return pairs > 0 ? sum / pairs : Tensor();
}

// Which numbers are wanted: those of layers are watched in every epoch.
enum class Depth { kShares, kLayers, kHeads };

void add_landmark_numbers(std::vector<HeadHealth>& rows, const LandmarkKernels& kernels,
                          Depth depth) {
  const int64_t heads = kernels.cross.size(1);
  const auto medians =
      per_head(std::get<0>(kernels.cross.transpose(0, 1).reshape({heads, -1}).median(-1)));
  const auto ranks = per_head(effective_rank(kernels.core));
  for (size_t h = 0; h < rows.size(); ++h) {
    rows[h].kernel_median = medians[h];
    rows[h].rank = ranks[h];
  }
  if (depth == Depth::kLayers) return;
  const auto residuals = per_head(inverse_residual(kernels.core, kernels.inverse).mean(0));
  for (size_t h = 0; h < rows.size(); ++h) rows[h].residual = residuals[h];
}

std::vector<HeadHealth> health_of(const SeenMixing& mixing, Depth depth) {
  const auto& [attention, heads, tokens, y, kernels] = mixing;
  std::vector<HeadHealth> rows(heads.q.size(1));
  const auto shares = shares_of(y, heads.v);
  for (size_t h = 0; h < rows.size(); ++h) {
    rows[h].head = static_cast<int>(h) + 1;
    rows[h].share = shares[h];
  }
  if (depth == Depth::kShares) return rows;
  if (kernels.cross.defined()) add_landmark_numbers(rows, kernels, depth);
  if (depth == Depth::kLayers) return rows;
  const Tensor ones = torch::ones_like(heads.v);
  const auto sums =
      per_head(attention.mix({heads.q, heads.k, ones}, tokens).to(torch::kFloat64).mean({0, 2, 3}));
  const Tensor alike = row_correlation(attention, heads, tokens);
  for (size_t h = 0; h < rows.size(); ++h) {
    rows[h].row_sum = sums[h];
    if (alike.defined()) rows[h].row_correlation = per_head(alike)[h];
  }
  return rows;
}

// Stage and layer, from 1, of the attentions in the order in which they run.
std::vector<std::pair<int, int>> places_of(const Description& model) {
  std::vector<std::pair<int, int>> places;
  for (const Part& part : model.parts) {
    if (part.as<op::Mix>() == nullptr) continue;
    places.emplace_back(part.place.stage + 1, part.place.layer + 1);
  }
  return places;
}

// Frames with attentions of their own beside those of their stages go on counting in stage 0.
std::pair<int, int> place_at(const std::vector<std::pair<int, int>>& places, size_t at) {
  if (at < places.size()) return places[at];
  return {0, static_cast<int>(at - places.size()) + 1};
}

std::vector<HeadHealth> measured(Classifier& model, const Tensor& images, Depth depth) {
  const auto places = places_of(model.description());
  size_t at = 0;
  std::vector<HeadHealth> all;
  Probe probe;
  probe.see = [&](const SeenMixing& mixing) {
    const auto [stage, layer] = place_at(places, at++);
    for (HeadHealth row : health_of(mixing, depth)) {
      row.stage = stage;
      row.layer = layer;
      all.push_back(row);
    }
  };
  const torch::NoGradGuard no_grad;
  const bool training = model.is_training();
  model.eval();
  model.forward(images);
  model.train(training);
  return all;
}

}  // namespace

std::vector<HeadHealth> head_health(Classifier& model, const Tensor& images) {
  return measured(model, images, Depth::kHeads);
}

std::vector<HeadShare> head_shares(Classifier& model, const Tensor& images) {
  std::vector<HeadShare> shares;
  for (const HeadHealth& row : measured(model, images, Depth::kShares)) {
    shares.push_back({row.stage, row.layer, row.head, row.share});
  }
  return shares;
}

std::vector<double> head_shares(const Classifier::Mixing& mixing) {
  return shares_of(mixing.attention->mix(mixing.heads, mixing.tokens), mixing.heads.v);
}

std::vector<LayerHealth> layer_health(Classifier& model, const Tensor& images) {
  std::vector<LayerHealth> layers;
  std::vector<double> heads;
  for (const HeadHealth& row : measured(model, images, Depth::kLayers)) {
    if (row.head == 1) {
      layers.push_back({row.stage, row.layer, 0, 0, 0});
      heads.push_back(0);
    }
    layers.back().share += row.share;
    layers.back().kernel_median += row.kernel_median;
    layers.back().rank += row.rank;
    ++heads.back();
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    layers[i].share /= heads[i];
    layers[i].kernel_median /= heads[i];
    layers[i].rank /= heads[i];
  }
  return layers;
}

Tensor logits_without(Classifier& model, const Tensor& images, const Silence& parts) {
  const auto places = places_of(model.description());
  const Mechanism own = model.spec().attention;
  size_t at = 0;
  bool found = false;
  Probe probe;
  probe.silenced = [&](const AttentionSpec& spec) {
    const auto [stage, layer] = place_at(places, at++);
    const bool meant =
        parts.layer > 0 ? stage == parts.stage && layer == parts.layer : spec.mechanism == own;
    found = found || meant;
    return Silenced{meant && parts.mixing, meant && parts.value_path};
  };
  const Tensor logits = model.forward(images);
  if (!found) fail_usage("stage {} has no layer {}", parts.stage, parts.layer);
  return logits;
}

}  // namespace soft
