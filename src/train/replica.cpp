#include "train/replica.h"

#include <chrono>
#include <cmath>

#include "attention/torch.h"
#include "base/seconds.h"

namespace soft {
namespace {

using torch::Tensor;

Tensor flat(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) rows.push_back(tensor.flatten());
  return torch::cat(rows);
}

}  // namespace

Replica::Replica(Group& group, const torch::nn::Module& model, Tensors tensors,
                 const Recipe& recipe)
    : group_(group),
      model_(model),
      samples_of_step_(static_cast<double>(recipe.batch * recipe.accumulate)),
      statistics_(std::move(tensors.statistics)),
      buckets_(group, std::move(tensors.parameters),
               {recipe.bucket_mb << 20, recipe.wire == Wire::kHalf}) {
  if (recipe.sync_bn && group.world() > 1) {
    sync_ = std::make_unique<BatchSync>([&group](const Tensor& sums) { group.sum_aside(sums); });
  }
}

void Replica::begin(const StepSums& own) {
  const torch::NoGradGuard no_grad;
  ballot_ = torch::tensor({own.loss, own.samples, own.stop}, torch::kFloat64);
  ballot_in_ = group_.start_sum(ballot_);
  means_in_ = nullptr;
  const bool change = model_.is_training() && !statistics_.empty();
  if (change && !sync_) {  // synced ones are equal already
    means_ = flat(statistics_);
    means_in_ = group_.start_sum(means_);
  }
  buckets_.begin(own.samples / samples_of_step_);
}

StepSums Replica::sum(const StepSums& own) {
  const Tensor sums = torch::tensor({own.loss, own.samples, own.stop}, torch::kFloat64);
  group_.sum(sums);
  const double* all = sums.data_ptr<double>();
  return {all[0], all[1], all[2]};
}

StepSums Replica::finish() {
  const torch::NoGradGuard no_grad;
  buckets_.finish();
  const auto start = std::chrono::steady_clock::now();
  ballot_in_();
  if (means_in_) means_in_();
  waited_ += seconds_since(start);
  if (means_in_) {
    if (group_.world() > 1) means_.div_(group_.world());
    int64_t at = 0;
    for (const Tensor& each : statistics_) {
      each.copy_(means_.narrow(0, at, each.numel()).view(each.sizes()));
      at += each.numel();
    }
  }
  const double* sums = ballot_.data_ptr<double>();
  return {sums[0], sums[1], sums[2]};
}

std::optional<Evaluation> Replica::total(const Evaluation& own, bool stopped) {
  const auto answered = static_cast<double>(own.images - own.broken);
  const auto number = [](int64_t count) { return static_cast<double>(count); };
  const Tensor sums =
      torch::tensor({number(own.first), number(own.first_five), own.loss * answered, answered,
                     number(own.images), number(own.broken), stopped ? 1.0 : 0.0},
                    torch::kFloat64);
  group_.sum(sums);
  const double* sum = sums.data_ptr<double>();
  if (sum[6] > 0) return std::nullopt;
  Evaluation all;
  const auto percent = [&](double hits) { return sum[4] > 0 ? 100 * hits / sum[4] : 0; };
  all.first = std::llround(sum[0]);
  all.first_five = std::llround(sum[1]);
  all.top1 = percent(sum[0]);
  all.top5 = percent(sum[1]);
  all.loss = sum[3] > 0 ? sum[2] / sum[3] : 0;
  all.images = std::llround(sum[4]);
  all.broken = std::llround(sum[5]);
  all.seconds = own.seconds;
  return all;
}

}  // namespace soft
