#include "cli/frame.h"

#include "base/parallel.h"
#include "cli/command.h"
#include "describe/cost.h"
#include "study/child.h"
#include "study/model_case.h"
#include "wing/wing.h"

namespace soft {
namespace {

Grid own_size(const ModelSpec& spec) { return {spec.image_size, spec.image_size}; }

std::function<void()> step_of(const ModelSpec& spec, Grid size, int64_t batch) {
  TorchStep step;
  step.spec = spec;
  step.size = size;
  step.batch = batch;
  step.threads = threads();
  return torch_wing().step(step);
}

std::function<void()> forward_of(const ModelSpec& spec, Grid size, int64_t batch) {
  const Answers answers =
      torch_wing().open({random_weights(spec, 0), spec, threads(), /*fused=*/true});
  const std::vector<float> pixels = noise_for({spec, size, batch, ""});
  return [=] { answers.logits({pixels.data(), batch, size}); };
}

// Beyond the weights. LibTorch itself and its threads are in memory before the case starts.
template <class Make>
Json growth_of(const Make& make, const ModelSpec& spec, Grid size, int64_t batch) {
  make(find_model("soft-pico"), Grid{32, 32}, int64_t{1})();
  const auto run = make(spec, size, batch);
  return peak_growth(run);
}

// Something to time, and the column for it.
struct Pass {
  const char* name;
  const char* column;
  decltype(step_of)* make;
};

// This process has no limit of its own, so what did not fit into the child's memory is not tried.
bool fits(const Json& row) { return !row.at("step_mb").is_null(); }

void add_rates(std::vector<Json>& rows, const std::vector<Variant>& variants,
               const FrameOptions& options, const Pass& pass) {
  std::vector<Contestant> contestants;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!fits(rows[i])) continue;
    const ModelSpec& spec = variants[i].spec;
    contestants.push_back({fmt::format("{} {}", variants[i].cell, pass.name),
                           pass.make(spec, own_size(spec), options.batch)});
  }
  const std::vector<Timing> timings = measure(contestants, options.bench);
  auto timing = timings.begin();
  for (Json& row : rows) {
    row[pass.column] = fits(row) ? Json(options.batch / (timing++)->median()) : Json();
  }
}

Json counts_of(const Variant& variant) {
  const ModelCost cost = cost_of(variant.spec, own_size(variant.spec));
  Json row = variant.label;
  row["params"] = cost.params;
  row["gmacs"] = cost.gmacs();
  row["gmacs_with_inverse"] = 1e-9 * static_cast<double>(cost.macs_with_inverse);
  return row;
}

void add_measures(std::vector<Json>& rows, const std::vector<Variant>& variants,
                  const FrameOptions& options) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const ModelSpec& spec = variants[i].spec;
    rows[i]["step_mb"] =
        step_megabytes("memory of " + variants[i].cell, spec, own_size(spec), options.batch);
  }
  add_rates(rows, variants, options, {"step", "train_images_per_second", step_of});
  add_rates(rows, variants, options, {"forward", "images_per_second", forward_of});
}

}  // namespace

ModelSpec with_attention(ModelSpec spec, const std::string& attention) {
  set_field(spec, "attention", attention);
  return spec;
}

Json forward_megabytes(const std::string& name, const ModelSpec& spec, Grid size, int64_t batch) {
  return peak_megabytes(name, [&] { return growth_of(forward_of, spec, size, batch); });
}

Json step_megabytes(const std::string& name, const ModelSpec& spec, Grid size, int64_t batch) {
  return peak_megabytes(name, [&] { return growth_of(step_of, spec, size, batch); });
}

void add_frame_flags(CLI::App* command, FrameOptions& options) {
  add_model_flag(command, options.model);
  add_setting_flag(command, options.model);
  command->add_option("--batch", options.batch, "Pictures at a time (default: 8)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("B");
  command->add_flag("--counts", options.counts_only, "Parameters and MACs alone; runs nothing");
  command
      ->add_option("--accuracy", options.accuracy,
                   "Folder of scripts/accuracy, for the accuracy columns")
      ->type_name("DIR");
  add_bench_flags(command, options.bench);
}

ModelSpec frame_of(const FrameOptions& options) {
  ModelSpec spec = find_model(options.model.model.empty() ? "soft-tiny" : options.model.model);
  for (const std::string& setting : options.model.settings) apply_setting(spec, setting);
  return spec;
}

Json frame_rows(const std::vector<Variant>& variants, const FrameOptions& options) {
  const Accuracies accuracies =
      options.accuracy.empty() ? Accuracies{} : read_accuracies(options.accuracy);
  for (const Variant& variant : variants) validate(variant.spec);
  std::vector<Json> rows;
  for (const Variant& variant : variants) rows.push_back(counts_of(variant));
  if (!options.counts_only) add_measures(rows, variants, options);
  if (options.accuracy.empty()) return rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].update(accuracy_columns(accuracies, variants[i].cell));
  }
  return rows;
}

}  // namespace soft
