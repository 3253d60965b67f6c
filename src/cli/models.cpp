#include <fmt/core.h>

#include <memory>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "describe/cost.h"
#include "spec/all_models.h"

namespace soft {
namespace {

struct ModelsOptions {
  std::string filter;
  bool json = false;
};

struct ModelRow {
  std::string name;
  std::string family;
  int64_t params;
  double gmacs;
};

std::vector<ModelRow> rows_matching(const std::string& filter) {
  std::vector<ModelRow> rows;
  for (std::string_view name : all_model_names()) {
    if (name.find(filter) == std::string_view::npos) continue;
    const ModelSpec spec = find_model(name);
    const ModelCost cost = cost_of(spec, {spec.image_size, spec.image_size});
    rows.push_back({spec.name, spec.family, cost.params, cost.gmacs()});
  }
  return rows;
}

void print_rows_as_json(const std::vector<ModelRow>& rows) {
  Json json = Json::array();
  for (const ModelRow& row : rows) {
    json.push_back(
        {{"name", row.name}, {"family", row.family}, {"params", row.params}, {"gmacs", row.gmacs}});
  }
  print_json(json);
}

void print_table(const std::vector<ModelRow>& rows) {
  fmt::print("{:<20} {:<10} {:>12} {:>8}\n", "name", "family", "params", "GMACs");
  for (const ModelRow& row : rows) {
    fmt::print("{:<20} {:<10} {:>12} {:>8.3f}\n", row.name, row.family, row.params, row.gmacs);
  }
}

void run(const ModelsOptions& options) {
  const auto rows = rows_matching(options.filter);
  if (rows.empty()) log("no model's name contains '{}'", options.filter);
  options.json ? print_rows_as_json(rows) : print_table(rows);
}

}  // namespace

void add_models(CLI::App& app) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App* command = add_command(app, {"models", "Look around", "List the models of the table",
                                        "soft models\nsoft models norm --json"});
  command->add_option("filter", options->filter, "Only names that contain this");
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
