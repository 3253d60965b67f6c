#include "gym.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>

#include "base/parallel.h"
#include "base/random.h"

// Every array of the gym starts on a cache line, as those of the engine and of LibTorch do.
void* operator new(size_t size) {
  constexpr size_t kLine = 64;
  void* memory = std::aligned_alloc(kLine, (size + kLine - 1) / kLine * kLine);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace soft::gym {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(int64_t calls, const std::function<void()>& body) {
  const auto start = Clock::now();
  for (int64_t i = 0; i < calls; ++i) body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The time of one call when nobody disturbs: the best of many batches, each long enough for the
// clock and short enough to fit between two interruptions.
double best_seconds(const std::function<void()>& body) {
  constexpr double kBatch = 50e-6;
  constexpr int kBatches = 300;
  int64_t calls = 1;
  while (seconds_of(calls, body) < kBatch && calls < 1 << 20) calls *= 2;
  double best = seconds_of(calls, body);
  for (int i = 0; i < kBatches && i * best < 1; ++i) best = std::min(best, seconds_of(calls, body));
  return best / static_cast<double>(calls);
}

void measure(benchmark::State& state, double flops, double bytes,
             const std::function<void()>& body) {
  for (auto _ : state) body();
  const double seconds = best_seconds(body);
  state.counters["best us"] = seconds * 1e6;
  if (flops > 0) state.counters["GFLOP/s"] = flops / 1e9 / seconds;
  if (bytes > 0) state.counters["GB/s"] = bytes / 1e9 / seconds;
}

void run(benchmark::State& state, const Exercise& exercise, int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  const double error = exercise.error();
  if (error <= exercise.tolerance) {
    measure(state, exercise.flops, exercise.bytes, exercise.body);
  } else {
    state.SkipWithError(fmt::format("differs from the plain form by {}", error).c_str());
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace

void train(const Exercise& exercise) {
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    const std::string name = fmt::format("{}/{}", exercise.name, hwy::TargetName(target));
    benchmark::RegisterBenchmark(name.c_str(), [exercise, target](benchmark::State& state) {
      run(state, exercise, target);
    });
  }
}

void train_peer(const std::string& name, double flops, const std::function<void()>& body) {
  benchmark::RegisterBenchmark(
      name.c_str(), [flops, body](benchmark::State& state) { measure(state, flops, 0, body); });
}

std::vector<float> normal_floats(int64_t count, uint64_t seed, double scale) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * random.normal());
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

}  // namespace soft::gym

int main(int argc, char** argv) {
  soft::set_threads(1);  // kernels are single-threaded; so is the peer beside them
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
