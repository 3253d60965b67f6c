#include <fmt/core.h>

#include <memory>

#include "cli/cli.h"
#include "spec/cost.h"

namespace soft {
namespace {

struct Options {
  std::string filter;
  bool json = false;
};

void run(const Options& options) {
  Json rows = Json::array();
  if (!options.json)
    fmt::print("{:<20} {:<10} {:>12} {:>8}\n", "name", "family", "params", "GMACs");
  for (std::string_view name : model_names()) {
    if (name.find(options.filter) == std::string_view::npos) continue;
    const ModelSpec spec = find_model(name);
    const ModelCost cost = cost_of(spec, {spec.image_size, spec.image_size});
    const double gmacs = static_cast<double>(cost.macs) / 1e9;
    rows.push_back(
        {{"name", name}, {"family", spec.family}, {"params", cost.params}, {"gmacs", gmacs}});
    if (!options.json)
      fmt::print("{:<20} {:<10} {:>12} {:>8.3f}\n", name, spec.family, cost.params, gmacs);
  }
  if (options.json) fmt::print("{}\n", rows.dump());
}

}  // namespace

void add_models(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("models", "List the models of the table");
  command->add_option("filter", options->filter, "Only names that contain this");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example: soft models norm");
  command->callback([options] { run(*options); });
}

}  // namespace soft
