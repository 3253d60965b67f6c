#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "describe/cost.h"

namespace soft {
namespace {

struct InfoOptions {
  std::string subject;       // a model's name or a weights file
  std::optional<Grid> size;  // none: the model's own
  ModelOptions model;
  bool list = false;
  bool json = false;
};

// What is printed, either way.
struct Report {
  std::string file;  // empty for a row of the table
  ModelSpec spec;
  Grid image;
  ModelCost cost;
};

Report report_on(InfoOptions options) {
  Report report;
  if (!is_model_name(options.subject)) {
    report.file = options.model.weights = options.subject;
  } else {
    options.model.model = options.subject;
  }
  report.spec = with_changes(choose_model(options.model).card.spec, options.model);
  report.image = options.size.value_or(Grid{report.spec.image_size, report.spec.image_size});
  check_image(report.spec, report.image, Fault::kUsage);
  report.cost = cost_of(report.spec, report.image);
  return report;
}

Json stage_as_json(const Report& report, size_t s) {
  const StageCost& cost = report.cost.stages[s];
  return {{"stage", s + 1},
          {"grid", {cost.grid.h, cost.grid.w}},
          {"dim", cost.dim},
          {"heads", cost.heads},
          {"depth", cost.depth},
          {"attention", cost.attention},
          {"landmarks", cost.landmarks},
          {"params", cost.params},
          {"macs", cost.macs},
          {"inverse_macs", cost.inverse_macs},
          {"activation_bytes", cost.activation_bytes}};
}

void print_as_json(const Report& report) {
  const ModelCost& cost = report.cost;
  Json json{{"name", report.spec.name},
            {"params", cost.params},
            {"macs", cost.macs},
            {"macs_with_inverse", cost.macs_with_inverse},
            {"stages", Json::array()},
            {"head", {{"params", cost.head_params}, {"macs", cost.head_macs}}},
            {"size", {report.image.h, report.image.w}},
            {"weight_bytes", cost.weight_bytes},
            {"activation_bytes", cost.activation_bytes},
            {"settings", settings_of(report.spec)}};
  if (!report.file.empty()) json["file"] = report.file;
  for (size_t s = 0; s < cost.stages.size(); ++s) {
    json["stages"].push_back(stage_as_json(report, s));
  }
  print_json(json);
}

std::string millions(int64_t count) {
  const double number = 1e-6 * static_cast<double>(count);
  if (number >= 1e6) return fmt::format("{:.3g}", number);
  return fmt::format("{:.{}f}", number, number < 1e4 ? 1 : 0);
}

using StageRow = std::vector<std::string>;

// Columns that say 0 in every stage are left out, as those of attention in a network without.
std::vector<StageRow> without_nothing(const std::vector<StageRow>& rows) {
  std::vector<StageRow> kept(rows.size());
  for (size_t i = 0; i < rows.front().size(); ++i) {
    const bool nothing = std::all_of(rows.begin() + 1, rows.end(), [&](const StageRow& row) {
      return row[i].empty() || row[i] == "0" || row[i] == "0.0";
    });
    for (size_t r = 0; r < rows.size() && !nothing; ++r) kept[r].push_back(rows[r][i]);
  }
  return kept;
}

std::vector<StageRow> stage_rows(const Report& report) {
  std::vector<StageRow> rows{{"stage", "grid", "dim", "heads", "depth", "attention", "marks",
                              "params", "MMACs", "inverse", "MB"}};
  const auto text = [](auto number) { return std::to_string(number); };
  for (size_t s = 0; s < report.cost.stages.size(); ++s) {
    const StageCost& cost = report.cost.stages[s];
    rows.push_back({text(s + 1), fmt::format("{}x{}", cost.grid.h, cost.grid.w), text(cost.dim),
                    text(cost.heads), text(cost.depth), cost.attention, text(cost.landmarks),
                    text(cost.params), millions(cost.macs), millions(cost.inverse_macs),
                    millions(cost.activation_bytes)});
  }
  rows.push_back({"head", "", "", "", "", "", "", text(report.cost.head_params),
                  millions(report.cost.head_macs), "", ""});
  return without_nothing(rows);
}

// Columns as wide as what they hold, so that the table fits into 80; words to the left, numbers to
// the right.
void print_stages(const Report& report) {
  const std::vector<StageRow> rows = stage_rows(report);
  std::vector<size_t> widths(rows.front().size());
  size_t total = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    for (const StageRow& row : rows) widths[i] = std::max(widths[i], row[i].size());
    total += widths[i];
  }
  const char* gap = total + 2 * (widths.size() - 1) <= kColumns ? "  " : " ";
  for (const StageRow& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool word = i <= 1 || rows.front()[i] == "attention";
      line += i > 0 ? gap : "";
      line += word ? fmt::format("{:<{}}", row[i], widths[i])
                   : fmt::format("{:>{}}", row[i], widths[i]);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void print_settings(const ModelSpec& spec) {
  constexpr size_t kLabel = 11, kWidth = kColumns - kLabel;
  const Json settings = settings_of(spec);
  std::string line;
  const char* label = "settings";
  for (const auto& [key, value] : settings.items()) {
    const std::string item = fmt::format(" {}={}", key, value.get<std::string>());
    if (line.size() + item.size() > kWidth) {
      fmt::print("{:<{}}{}\n", label, kLabel, line);
      line.clear();
      label = "";
    }
    line += item;
  }
  fmt::print("{:<{}}{}\n", label, kLabel, line);
}

// A paragraph for every key of --set: its value here, what it means, what else it takes.
void print_setting_list(const ModelSpec& spec) {
  constexpr size_t kKey = 15, kValue = 16;
  Json values = settings_of(spec);
  for (const FieldHelp& help : field_help(spec)) {
    const std::string value = values.value(std::string(help.key), "");  // a shorthand has none
    const std::string line = fmt::format("{:<{}}{:<{}}{} ({})", help.key, kKey, value, kValue,
                                         help.meaning, help.values);
    fmt::print("{}\n", wrapped(line, kKey + kValue));
  }
}

void print_for_people(const Report& report) {
  const ModelCost& cost = report.cost;
  fmt::print("{}{}: {}x{} pixels, {} classes\n\n", report.spec.name,
             report.file.empty() ? "" : " in " + shown(report.file), report.image.h, report.image.w,
             report.spec.classes);
  print_stages(report);
  fmt::print("\nparameters  {}\n", cost.params);
  fmt::print("MMACs       {}, with the iterative inverse {}\n", millions(cost.macs),
             millions(cost.macs_with_inverse));
  fmt::print("megabytes   {} of float32 weights, {} of activations per image\n",
             millions(cost.weight_bytes), millions(cost.activation_bytes));
  print_settings(report.spec);
}

void run(const InfoOptions& options) {
  const Report report = report_on(options);
  if (options.list && !options.json) return print_setting_list(report.spec);
  options.json ? print_as_json(report) : print_for_people(report);
}

}  // namespace

void add_info(CLI::App& app) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      add_command(app, {"info", "Look around", "Parameters, MACs and memory, stage by stage",
                        "soft info soft-tiny\n"
                        "soft info soft-tiny --settings\n"
                        "soft info soft-small --size 384x640 --set landmarks=49 --json"});
  command->add_option("model", options->subject, "A model's name or a weights file")
      ->required()
      ->type_name("MODEL|FILE");
  command
      ->add_option_function<std::string>(
          "--size", [options](const std::string& text) { options->size = parse_size(text); },
          "Pixels: N or HxW (default: the model's own)")
      ->type_name("SIZE");
  command->add_flag("--settings", options->list,
                    "List every key of --set with its value here and what it means");
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
