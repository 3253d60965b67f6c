#include "study/model_case.h"

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/random.h"
#include "describe/cost.h"

namespace soft {

std::string ModelCase::name() const { return fmt::format("{} batch {}", engine, batch); }

std::vector<float> noise_for(const ModelCase& model) {
  Random random(2);
  std::vector<float> pixels(model.batch * 3 * model.size.size());
  for (float& value : pixels) value = static_cast<float>(random.normal());
  return pixels;
}

Json row_of(const ModelCase& model, const Timing& timing) {
  const double rate = static_cast<double>(model.batch) / timing.median();
  const auto macs = static_cast<double>(cost_of(model.spec, model.size).macs_with_inverse);
  return {{"model", model.spec.name},
          {"engine", model.engine},
          {"batch", model.batch},
          {"threads", threads()},
          {"images_per_second", rate},
          {"ms_median", 1e3 * timing.median()},
          {"ms_best", 1e3 * timing.best()},
          {"ms_spread", 1e3 * timing.spread()},
          {"size", fmt::format("{}x{}", model.size.h, model.size.w)},
          {"gflops", 2e-9 * macs * rate}};
}

}  // namespace soft
