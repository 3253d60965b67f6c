// Times the engine beside the machine's own matrix products and shows where the time goes.
//   engine_bench [MODEL [SIZE [BATCH [THREADS [SECONDS]]]]]      e.g. engine_bench soft-tiny 224 8
//   2
// Weights are random: they change neither the work nor its order. Roofline and model are measured
// in turns, so that a slow moment of the machine hits both.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "describe/cost.h"
#include "engine/engine.h"
#include "engine/roofline.h"

namespace soft {
namespace {

struct Options {
  std::string model = "soft-tiny";
  int64_t size = 224;
  int64_t batch = 1;
  int threads = 0;
  double seconds = 4;
};

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

struct RandomModel {
  explicit RandomModel(const ModelSpec& spec) {
    weights.path = "random";
    for (const TensorShape& tensor : tensors_of(spec)) {
      Random random(1, {memory.size()});
      TensorView view{DType::kF32, tensor.shape, nullptr};
      memory.emplace_back(view.elements());
      const bool around_one = tensor.shape.size() == 1;
      for (float& value : memory.back()) {
        value = static_cast<float>((around_one ? 1 : 0) + 0.03 * random.normal());
      }
      view.data = reinterpret_cast<const uint8_t*>(memory.back().data());
      weights.tensors[tensor.name] = view;
    }
  }

  Weights weights;
  std::deque<std::vector<float>> memory;
};

struct Timing {
  std::vector<double> seconds;
  double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

void print_profile(const Profile& profile, size_t stages) {
  fmt::print("{:>8}", "ms/image");
  for (std::string_view name : kPhaseNames) fmt::print("{:>9}", name);
  fmt::print("\n");
  for (size_t s = 0; s < stages; ++s) {
    fmt::print("stage {:>2}", s + 1);
    for (double seconds : profile.seconds[s]) {
      fmt::print("{:9.3f}", 1e3 * seconds / static_cast<double>(profile.images));
    }
    fmt::print("\n");
  }
}

void report(const Options& options, const Timing& timing, double roofline, const ModelSpec& spec) {
  const ModelCost cost = cost_of(spec, {options.size, options.size});
  const double gflop = 2e-9 * static_cast<double>(cost.macs_with_inverse);
  const auto line = [&](const char* what, double seconds) {
    const double rate = static_cast<double>(options.batch) / seconds;
    fmt::print("{:>8} {:8.2f} ms {:8.2f} images/s {:7.1f} GFLOP/s {:5.1f} % of {:.1f}\n", what,
               1e3 * seconds, rate, rate * gflop, 100 * rate * gflop / roofline, roofline);
  };
  fmt::print("{} {}x{}, batch {}, {} threads, {} runs\n", spec.name, options.size, options.size,
             options.batch, threads(), timing.seconds.size());
  line("median", timing.median());
  line("best", timing.best());
}

void run(const Options& options) {
  set_threads(options.threads);
  const ModelSpec spec = find_model(options.model);
  const RandomModel random(spec);
  double start = now();
  const Packed model(random.weights, spec);
  fmt::print("packed {:.1f} MB in {:.1f} ms\n", 1e-6 * static_cast<double>(model.bytes()),
             1e3 * (now() - start));
  const Grid size{options.size, options.size};
  std::vector<float> pixels(options.batch * 3 * size.size());
  Random noise(2);
  for (float& value : pixels) value = static_cast<float>(noise.normal());
  std::vector<float> logits(options.batch * spec.classes);
  Workspace workspace;
  const ImageBatch images{pixels.data(), options.batch, size};
  start = now();
  forward(model, workspace, images, logits.data());
  fmt::print("first run {:.1f} ms, workspace {:.1f} MB\n", 1e3 * (now() - start),
             1e-6 * static_cast<double>(workspace.bytes()));
  forward(model, workspace, images, logits.data());
  workspace.reset_profile();
  Timing timing;
  double roofline = 0;
  for (const double end = now() + options.seconds; now() < end;) {
    roofline = std::max(roofline, roofline_gflops(measure_roofline(0.05)));
    for (const double turn = now() + 0.5; now() < turn;) {
      start = now();
      forward(model, workspace, images, logits.data());
      timing.seconds.push_back(now() - start);
    }
  }
  report(options, timing, roofline, spec);
  print_profile(workspace.profile(), spec.stages.size());
}

}  // namespace
}  // namespace soft

int main(int argc, char** argv) {
  soft::Options options;
  if (argc > 1) options.model = argv[1];
  try {
    if (argc > 2) options.size = std::stoll(argv[2]);
    if (argc > 3) options.batch = std::stoll(argv[3]);
    if (argc > 4) options.threads = std::stoi(argv[4]);
    if (argc > 5) options.seconds = std::stod(argv[5]);
    soft::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "engine_bench: {}\n", error.what());
    return 1;
  }
}
