// `soft lra table`: finished runs beside the paper's Table 6.
#include "study/lra_table.h"

#include <fmt/core.h>

#include <memory>

#include "cli/chart_file.h"
#include "cli/command.h"
#include "cli/lra.h"
#include "cli/terminal.h"
#include "study/table.h"

namespace soft {
namespace {

struct LraTableOptions {
  std::string folder, plot;
  bool json = false, csv = false;
};

// What stands behind each number, in columns that fit.
void print_lra_details(const Json& rows) {
  fmt::print("\n{:<10} {:<14} {:>6} {:>5} {:>7} {:>6} {:>8} {:>7} {:>8}\n", "task", "attention",
             "steps", "seeds", "%", "spread", "constant", "s/step", "peak MB");
  for (const Json& row : rows) {
    fmt::print(
        "{:<10} {:<14} {:>6} {:>5} {:>7.2f} {:>6} {:>8.2f} {:>7.3f} {:>8.0f}\n",
        row.at("task").get<std::string>(), row.at("attention").get<std::string>(),
        row.at("steps").get<int64_t>(), row.at("seeds").get<int64_t>(),
        row.at("accuracy").get<double>(),
        row.at("spread").is_null() ? "-" : fmt::format("{:.2f}", row.at("spread").get<double>()),
        row.at("best_constant").get<double>(), row.at("step_seconds").get<double>(),
        row.at("peak_mb").get<double>());
  }
}

void print_lra_deviations(const Json& rows) {
  fmt::print("\nNot as in the protocol:\n");
  for (const Json& row : rows) {
    std::string text =
        fmt::format("{} {} {}:", row.at("task").get<std::string>(),
                    row.at("attention").get<std::string>(), row.at("steps").get<int64_t>());
    for (const Json& deviation : row.at("deviations")) {
      text += " " + deviation.get<std::string>() + ";";
    }
    if (!row.at("deviations").empty()) {
      text.back() = '.';
      fmt::print("{}\n", wrapped(text, 2));
    }
  }
}

void lra_table_command(const LraTableOptions& options) {
  if (!options.plot.empty()) check_chart_file(options.plot);
  Json rows = lra_rows(read_lra_results(options.folder));
  if (!options.plot.empty()) write_chart(options.plot, draw(lra_chart(rows)));
  if (options.json) return print_json(rows);
  if (options.csv) {
    for (Json& row : rows) row.erase("deviations");
    fmt::print("{}", csv_of(rows));
    return;
  }
  fmt::print("{}", lra_table(rows));
  print_lra_details(rows);
  print_lra_deviations(rows);
}

}  // namespace

void add_lra_table(CLI::App& lra) {
  auto options = std::make_shared<LraTableOptions>();
  CLI::App* command =
      add_command(lra, {"table", "Commands", "Finished runs beside the paper's Table 6",
                        "soft lra table runs --plot lra.svg"});
  command->add_option("folder", options->folder, "Folder with the runs, at any depth")
      ->required()
      ->type_name("DIR");
  command->add_option("--plot", options->plot, "Draw the accuracies (.svg or .png)")
      ->type_name("FILE");
  command->add_flag("--csv", options->csv,
                    "One line of numbers for each task, attention and steps");
  add_json_flag(command, options->json);
  command->callback([options] { lra_table_command(*options); });
}

}  // namespace soft
