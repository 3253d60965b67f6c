#include "study/profile_rows.h"

#include <algorithm>
#include <chrono>

#include "base/parallel.h"
#include "describe/cost.h"
#include "engine/work.h"
#include "study/model_case.h"

namespace soft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 2;

// All work: what the dense layers leave of a stage's count is the mixing's.
PhaseWork all_work(const Packed& model, Grid size) {
  PhaseWork work = dense_work(model, size);
  const ModelCost cost = cost_of(model.spec(), size);
  for (size_t s = 0; s < cost.stages.size(); ++s) {
    double rest = 2.0 * static_cast<double>(cost.stages[s].macs + cost.stages[s].inverse_macs);
    for (const Phase phase : {Phase::kEmbed, Phase::kEnter, Phase::kLeave}) {
      rest -= work[s][static_cast<size_t>(phase)];
    }
    work[s][static_cast<size_t>(Phase::kMix)] = std::max(rest, 0.0);
  }
  return work;
}

struct Measured {
  Profile profile;
  double wall = 0;  // seconds per picture
};

Measured measure_profile(const Packed& model, Grid size, int64_t batch, int repeat) {
  const std::vector<float> pixels = noise_for({model.spec(), size, batch, ""});
  std::vector<float> logits(batch * model.spec().classes);
  Workspace workspace;
  const auto once = [&] { forward(model, workspace, {pixels.data(), batch, size}, logits.data()); };
  once();
  once();
  workspace.reset_profile();
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int runs = 0;
  while (repeat > 0 ? runs < repeat : passed() < kSeconds || runs == 0) once(), ++runs;
  return {workspace.profile(), passed() / static_cast<double>(runs * batch)};
}

}  // namespace

std::vector<Json> profile_rows(const Packed& model, Grid size, int64_t batch, int repeat) {
  const Measured measured = measure_profile(model, size, batch, repeat);
  const PhaseWork work = all_work(model, size);
  double total = 0, operations = 0;
  for (const auto& stage : measured.profile.seconds) {
    for (const double seconds : stage) total += seconds;
  }
  std::vector<Json> rows;
  // Pictures run side by side on several cores: each phase gets its part of the wall-clock time.
  const auto add = [&](size_t stage, std::string_view phase, double part, double flop) {
    const double seconds = part * measured.wall;
    rows.push_back({{"model", model.spec().name},
                    {"batch", batch},
                    {"threads", threads()},
                    {"stage", stage},
                    {"phase", phase},
                    {"ms", 1e3 * seconds},
                    {"share", 100 * part},
                    {"gflops", seconds > 0 ? 1e-9 * flop / seconds : 0}});
  };
  for (size_t s = 0; s < kMostStages; ++s) {
    for (size_t p = 0; p < kPhases; ++p) {
      const double seconds = measured.profile.seconds[s][p];
      operations += work[s][p];
      if (seconds > 0) add(s + 1, kPhaseNames[p], seconds / total, work[s][p]);
    }
  }
  add(0, "all", 1, operations);
  return rows;
}

}  // namespace soft
