#include "wing/torch_exchange.h"

#include <algorithm>
#include <chrono>

#include "base/seconds.h"
#include "group/gloo.h"
#include "train/buckets.h"
#include "train/loss.h"
#include "wing/torch_guard.h"

namespace soft {
namespace {

using torch::Tensor;
using Steady = std::chrono::steady_clock;

// Sums of so few bytes take less than a slice of the scheduler: they are measured more often.
constexpr int64_t kSmall = 1 << 20;

// All ranks begin together; the median over some runs.
double median_of(Group& group, int repeat, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = -1; i < repeat; ++i) {
    group.barrier();
    const auto start = Steady::now();
    work();
    if (i >= 0) seconds.push_back(seconds_since(start));
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeat / 2, seconds.end());
  return seconds[repeat / 2];
}

// Forward and backward on noise, with the exchange of all gradients or without.
class SharedStep {
 public:
  SharedStep(Group& group, const TorchExchange& request)
      : group_(group), request_(request), model_(request.step->spec) {
    const TorchStep& step = *request.step;
    images_ = torch::randn({step.batch, 3, step.size.h, step.size.w});
    targets_ = torch::softmax(torch::randn({step.batch, step.spec.classes}), 1);
    model_.train();
  }

  void measure(ExchangeResult& result) {
    result.step_alone = median_of(group_, request_.repeat, [this] { backward(); });
    Buckets buckets(group_, model_.parameters(), {request_.bucket_mb << 20, request_.half});
    std::vector<double> waits;
    result.step_shared = median_of(group_, request_.repeat, [&] {
      const double before = buckets.waited();
      buckets.begin(1);
      backward();
      buckets.finish();
      waits.push_back(buckets.waited() - before);
    });
    std::sort(waits.begin(), waits.end());
    result.waited = waits[waits.size() / 2];
    result.exchange = median_of(group_, request_.repeat, [&] {
      buckets.begin(1);
      buckets.finish();
    });
  }

 private:
  void backward() {
    for (const Tensor& parameter : model_.parameters()) parameter.mutable_grad() = Tensor();
    soft_cross_entropy(model_.forward(images_), targets_).backward();
  }

  Group& group_;
  const TorchExchange& request_;
  Classifier model_;
  Tensor images_, targets_;
};

}  // namespace

ExchangeResult time_exchange(const TorchExchange& request) {
  keep_freed_memory();
  return guarded(request.step ? request.step->threads : 1, [&] {
    GlooRequest gloo;
    gloo.place = request.place;
    gloo.timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * request.timeout));
    gloo.program = "bench";
    const auto group = join_gloo(gloo);
    ExchangeResult result;
    for (const int64_t bytes : request.bytes) {
      const Tensor tensor = torch::zeros({std::max<int64_t>(1, bytes / 4)});
      const int repeat = bytes > kSmall ? request.repeat : 10 * request.repeat;
      result.seconds.push_back(median_of(*group, repeat, [&] { group->sum(tensor); }));
    }
    if (request.step) SharedStep(*group, request).measure(result);
    group->barrier();
    return result;
  });
}

}  // namespace soft
