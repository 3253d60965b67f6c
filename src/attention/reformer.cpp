// Reformer (Kitaev et al., 2020): softmax attention among tokens that hash alike, Q and K shared,
// O(n log n + n·b·d) per head and round, b the size of a bucket:
//   scores q·(k/|k|) / sqrt d    hash(x) = argmax [x R; -x R], R Gaussian
// In each round the tokens are sorted by (bucket, position) and cut into chunks of b; a chunk
// attends to itself and the one before it, around the circle of its own round. A token sees itself
// only where it sees nobody else. Rounds are combined by a softmax over their log-sum-exp. Up to b
// tokens are one chunk: full attention, nothing to hash.

#include <algorithm>
#include <cmath>

#include "attention/masking.h"
#include "attention/mechanisms.h"
#include "attention/torch.h"
#include "base/permutation.h"
#include "spec/landmark_count.h"

namespace soft {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kSelfScore = -5e4;  // below every other token, above every masked one
constexpr double kMaskedScore = -1e6;
constexpr int64_t kHashCells = 1 << 20;  // of one head at a time: more tokens have more buckets

Tensor unit_length(const Tensor& k) { return k * (k.square().sum(-1, true) + 1e-12).rsqrt(); }

double score_scale(const Tensor& q) { return 1 / std::sqrt(static_cast<double>(q.size(-1))); }

// One chunk holds everything.
Tensor full_attention(const Heads& heads, const Tensor& mask) {
  const int64_t n = heads.q.size(2);
  const Tensor keys = unit_length(heads.k).transpose(-1, -2);
  Tensor scores = torch::matmul(heads.q * score_scale(heads.q), keys);  // [B, h, n, n]
  const Tensor self = torch::eye(n, scores.options().dtype(torch::kBool));
  scores = with_low_masked_scores(scores.masked_fill(self, kSelfScore), mask);
  return torch::matmul(scores.softmax(-1), heads.v);
}

// Each chunk followed by the one before it: [.., c, b, x] -> [.., c, 2b, x].
Tensor with_previous(const Tensor& chunks, int64_t chunk_axis) {
  return torch::cat({chunks, chunks.roll(1, chunk_axis)}, chunk_axis + 1);
}

// Where every token stands in each round: the order of the round, and the way back from it.
struct Rounds {
  Tensor order;    // [B, h, R, n]: position of the i-th token of the round
  Tensor inverse;  // [B, h, R, n]: place in the round of the token at a position
};

// Rows of x in another order: [.., n, d] by a permutation [.., n].
Tensor picked(const Tensor& x, const Tensor& order) {
  const int64_t n = x.size(-2), groups = order.numel() / n;
  const Tensor first = torch::arange(groups, order.options()).unsqueeze(-1) * n;
  const Tensor rows = (order.reshape({groups, n}) + first).flatten();
  return x.reshape({groups * n, x.size(-1)}).index_select(0, rows).reshape(x.sizes());
}

// The gradient of a permutation is the permutation back: LibTorch, which cannot know that no row is
// taken twice, would add them up one by one.
class Reorder : public torch::autograd::Function<Reorder> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& order,
                        const Tensor& inverse) {
    context->save_for_backward({inverse});
    return picked(x, order);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {picked(gradients[0], context->get_saved_variables()[0]), Tensor(), Tensor()};
  }
};

// [B, h, n, d] in the order of every round: [B, h, R, n, d].
Tensor in_rounds(const Tensor& x, const Rounds& rounds) {
  const Tensor repeated = x.unsqueeze(2).expand({-1, -1, rounds.order.size(2), -1, -1});
  return Reorder::apply(repeated, rounds.order, rounds.inverse);
}

// And back to the tokens' own order.
Tensor restored(const Tensor& x, const Rounds& rounds) {
  return Reorder::apply(x, rounds.inverse, rounds.order);
}

class Reformer : public Attention {
 public:
  using Attention::Attention;

  Tensor mix(const Heads& heads, const Tokens& tokens) override {
    const int64_t n = heads.q.size(2);
    if (n <= spec().bucket_size) return full_attention(heads, tokens.mask);
    const Rounds rounds = sorted(hashes(heads.q.detach(), tokens), tokens.mask);
    const auto [y, sums] = attend_in_chunks(heads, rounds, tokens.mask);
    return (restored(y, rounds) * restored(sums, rounds).softmax(2)).sum(2);
  }

 private:
  // [B, h, n, d] -> buckets [B, h, R, n]
  Tensor hashes(const Tensor& x, const Tokens& tokens) const {
    const int64_t half = bucket_count(spec(), x.size(2)) / 2, rounds = spec().hash_rounds;
    auto generator = tokens.generator;
    if (!tokens.training) generator = at::make_generator<at::CPUGeneratorImpl>(kEvaluationDraw);
    const Tensor rotation =
        torch::randn({x.size(3), rounds * half}, generator, torch::kFloat32).to(x.options());
    std::vector<Tensor> buckets;  // [B, h, some, R]
    for (const Tensor& some : x.split(std::max<int64_t>(1, kHashCells / rotation.size(1)), 2)) {
      const Tensor turned = torch::matmul(some, rotation).unflatten(-1, {rounds, half});
      buckets.push_back(torch::cat({turned, -turned}, -1).argmax(-1));
    }
    return torch::cat(buckets, 2).transpose(2, 3);
  }

  // Masked tokens come last.
  static Rounds sorted(Tensor buckets, const Tensor& mask) {
    const int64_t n = buckets.size(3);
    const Tensor position = torch::arange(n, buckets.options());
    if (mask.defined()) {
      buckets = buckets.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(1), n);
    }
    const Tensor order = (buckets * n + position).argsort(true, -1, false);
    const Tensor inverse = torch::empty_like(order).scatter_(3, order, position.expand_as(order));
    return {order, inverse};
  }

  // Outputs [B, h, R, n, d] and log-sums [B, h, R, n, 1] in the order of the rounds.
  std::pair<Tensor, Tensor> attend_in_chunks(const Heads& heads, const Rounds& rounds,
                                             const Tensor& mask) const {
    const int64_t n = heads.q.size(2), b = spec().bucket_size, missing = (b - n % b) % b;
    const auto chunked = [&](const Tensor& t, double filling) {  // [B, h, R, n, x]
      return torch::constant_pad_nd(t, {0, 0, 0, missing}, filling).unflatten(3, {-1, b});
    };
    const Tensor q = chunked(in_rounds(heads.q, rounds), 0);  // [B, h, R, c, b, d]
    const Tensor k = with_previous(unit_length(q), 3);        // [B, h, R, c, 2b, d]
    const Tensor v = with_previous(chunked(in_rounds(heads.v, rounds), 0), 3);
    const Tensor position = chunked(rounds.order.unsqueeze(-1), -1);  // filling is nobody
    const Tensor seen = with_previous(position, 3).transpose(-1, -2);
    Tensor scores = torch::matmul(q * score_scale(q), k.transpose(-1, -2));  // [.., c, b, 2b]
    scores = scores.masked_fill(position == seen, kSelfScore);
    scores = scores.masked_fill(hidden(seen, mask), kMaskedScore);
    const Tensor sums = scores.logsumexp(-1, true);
    const Tensor y = torch::matmul((scores - sums).exp(), v);
    const auto joined = [&](const Tensor& t) { return t.flatten(3, 4).narrow(3, 0, n); };
    return {joined(y), joined(sums)};
  }

  // Which of the keys at these positions must not be seen: the filling and masked tokens.
  static Tensor hidden(const Tensor& seen, const Tensor& mask) {
    if (!mask.defined()) return seen < 0;
    const Tensor padding = torch::constant_pad_nd(mask.logical_not(), {0, 1}, 1);  // [B, n + 1]
    const int64_t b = seen.size(0), n = mask.size(1);
    const Tensor place = torch::where(seen < 0, n, seen).reshape({b, -1});
    return padding.gather(1, place).reshape(seen.sizes());
  }
};

}  // namespace

std::shared_ptr<Attention> make_reformer(const AttentionSpec& spec) {
  return std::make_shared<Reformer>(spec);
}

}  // namespace soft
