// c10d's own Reducer does the same, but its header cannot be compiled from Debian's package.
#include "train/buckets.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <chrono>

#include "attention/torch.h"
#include "base/seconds.h"

namespace soft {
namespace {

using torch::Tensor;

// Gradients are small numbers; float16 ends at 6e-8 below and at 65504 above.
constexpr double kHalfScale = 256;
constexpr double kHalfMost = 65504;

}  // namespace

struct Buckets::State {
  struct Slice {
    size_t parameter = 0;
    int64_t offset = 0, count = 0;
  };

  struct Bucket {
    std::vector<Slice> parts;
    int64_t size = 0;    // gradients; then one flag a part that says who has one, and the weight
    size_t missing = 0;  // parts that backward has not made yet
    Tensor flat, sent;   // the same tensor, unless float16 is sent
    Group::Finish arrived;
  };

  Group& group;
  std::vector<Tensor> parameters;
  BucketOptions options;
  std::vector<Bucket> buckets;
  std::vector<size_t> bucket_of;  // by parameter
  std::vector<bool> ready;        // by parameter
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;
  double weight = 1;
  bool active = false;
  size_t next = 0;  // the first bucket that has not been sent
  size_t hidden = 0;
  double waited = 0;

  void fill_buckets();
  void mark(size_t parameter);
  void send_full();
  void send(Bucket& bucket);
  void unpack(Bucket& bucket);
};

namespace {

class ReadyHook : public torch::autograd::FunctionPostHook {
 public:
  explicit ReadyHook(std::function<void()> ready) : ready_(std::move(ready)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    ready_();
    return outputs;
  }

 private:
  std::function<void()> ready_;
};

}  // namespace

// Backward meets the last layers first.
void Buckets::State::fill_buckets() {
  bucket_of.resize(parameters.size());
  for (size_t i = parameters.size(); i-- > 0;) {
    const int64_t count = parameters[i].numel();
    const bool full = buckets.empty() || (buckets.back().size + count) * 4 > options.bytes;
    if (full) buckets.emplace_back();
    Bucket& bucket = buckets.back();
    bucket.parts.push_back({i, bucket.size, count});
    bucket.size += count;
    bucket_of[i] = buckets.size() - 1;
  }
}

void Buckets::State::mark(size_t parameter) {
  if (!active || ready[parameter]) return;
  ready[parameter] = true;
  --buckets[bucket_of[parameter]].missing;
  send_full();
}

// In their order on every rank, or sums would meet the wrong ones.
void Buckets::State::send_full() {
  while (next < buckets.size() && buckets[next].missing == 0) send(buckets[next++]);
}

void Buckets::State::send(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  const auto flags = static_cast<int64_t>(bucket.parts.size());
  bucket.flat = torch::empty({bucket.size + flags + 1});
  float* values = bucket.flat.data_ptr<float>();
  for (size_t i = 0; i < bucket.parts.size(); ++i) {
    const Slice& part = bucket.parts[i];
    const Tensor& gradient = parameters[part.parameter].grad();
    const Tensor place = bucket.flat.narrow(0, part.offset, part.count);
    if (gradient.defined()) {
      place.view(gradient.sizes()).copy_(gradient);
    } else {
      place.zero_();
    }
    values[bucket.size + static_cast<int64_t>(i)] = gradient.defined() ? 1 : 0;
  }
  values[bucket.size + flags] = static_cast<float>(weight);
  if (weight != 1) bucket.flat.narrow(0, 0, bucket.size).mul_(weight);
  bucket.sent = bucket.flat;
  if (options.half) {
    const double most = kHalfMost / group.world();
    bucket.flat.narrow(0, 0, bucket.size).mul_(kHalfScale).clamp_(-most, most);
    bucket.sent = bucket.flat.to(torch::kFloat16);
  }
  bucket.arrived = group.start_sum(bucket.sent);
}

void Buckets::State::unpack(Bucket& bucket) {
  const torch::NoGradGuard no_grad;
  if (options.half) bucket.flat.copy_(bucket.sent);
  const float* values = bucket.flat.data_ptr<float>();
  const auto flags = static_cast<int64_t>(bucket.parts.size());
  const double all = values[bucket.size + flags] * (options.half ? kHalfScale : 1);
  if (all != 1) bucket.flat.narrow(0, 0, bucket.size).div_(all);
  for (size_t i = 0; i < bucket.parts.size(); ++i) {
    if (values[bucket.size + static_cast<int64_t>(i)] == 0) continue;  // nobody has one
    const Slice& part = bucket.parts[i];
    Tensor& gradient = parameters[part.parameter].mutable_grad();
    if (!gradient.defined()) gradient = torch::empty_like(parameters[part.parameter]);
    gradient.copy_(bucket.flat.narrow(0, part.offset, part.count).view(gradient.sizes()));
  }
  bucket.flat = bucket.sent = Tensor();
}

Buckets::Buckets(Group& group, std::vector<Tensor> parameters, const BucketOptions& options)
    : state_(new State{group, std::move(parameters), options, {}, {}, {}, {}}) {
  state_->fill_buckets();
  const std::weak_ptr<State> weak = state_;
  for (size_t i = 0; i < state_->parameters.size(); ++i) {
    auto accumulator = torch::autograd::impl::grad_accumulator(state_->parameters[i]);
    accumulator->add_post_hook(std::make_unique<ReadyHook>([weak, i] {
      if (const auto state = weak.lock()) state->mark(i);
    }));
    state_->accumulators.push_back(std::move(accumulator));
  }
}

Buckets::~Buckets() { state_->active = false; }

void Buckets::begin(double weight) {
  State& state = *state_;
  state.weight = weight;
  state.ready.assign(state.parameters.size(), false);
  for (State::Bucket& bucket : state.buckets) bucket.missing = bucket.parts.size();
  state.next = 0;
  state.active = true;
}

void Buckets::finish() {
  State& state = *state_;
  state.active = false;
  state.hidden = state.next;
  for (; state.next < state.buckets.size(); ++state.next) state.send(state.buckets[state.next]);
  for (State::Bucket& bucket : state.buckets) {
    const auto start = std::chrono::steady_clock::now();
    bucket.arrived();
    state.waited += seconds_since(start);
    state.unpack(bucket);
  }
}

size_t Buckets::count() const { return state_->buckets.size(); }
double Buckets::waited() const { return state_->waited; }
size_t Buckets::sent_in_backward() const { return state_->hidden; }

}  // namespace soft
