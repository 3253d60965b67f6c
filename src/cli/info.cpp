#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/size.h"
#include "spec/cost.h"

namespace soft {
namespace {

struct Options {
  std::string subject;       // a model's name or a weights file
  std::optional<Grid> size;  // none: the model's own
  ModelOptions model;
  bool json = false;
};

// What is printed, either way.
struct Report {
  std::string file;  // empty for a row of the table
  ModelSpec spec;
  Grid image;
  ModelCost cost;
};

bool is_model(const std::string& name) {
  const auto names = model_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A mistyped model should be answered as one, so a missing file must look like a file.
bool is_file(const std::string& subject) {
  if (is_model(subject)) return false;
  std::error_code ignored;  // a name that no file can have is none
  return subject.find_first_of("/.") != std::string::npos ||
         std::filesystem::exists(subject, ignored);
}

Report report_on(Options options) {
  Report report;
  if (is_file(options.subject)) {
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
  const StageSpec& row = report.spec.stages[s];
  const StageCost& cost = report.cost.stages[s];
  const AttentionSpec attention = attention_of(report.spec, static_cast<int>(s));
  return {{"stage", s + 1},
          {"grid", {cost.grid.h, cost.grid.w}},
          {"dim", row.dim},
          {"heads", row.heads},
          {"depth", row.depth},
          {"attention", name_of(attention.mechanism)},
          {"landmarks", cost.landmarks},
          {"params", cost.params},
          {"macs", cost.macs},
          {"inverse_macs", cost.inverse_macs}};
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
  return fmt::format("{:.1f}", 1e-6 * static_cast<double>(count));
}

void print_stages(const Report& report) {
  const auto print = [](auto... cells) {
    fmt::print("{:<5}  {:<9}  {:>4} {:>5} {:>5}  {:<16} {:>9}  {:>9} {:>9} {:>9}\n", cells...);
  };
  print("stage", "grid", "dim", "heads", "depth", "attention", "landmarks", "params", "MMACs",
        "inverse");
  for (size_t s = 0; s < report.cost.stages.size(); ++s) {
    const StageSpec& row = report.spec.stages[s];
    const StageCost& cost = report.cost.stages[s];
    const AttentionSpec attention = attention_of(report.spec, static_cast<int>(s));
    print(s + 1, fmt::format("{}x{}", cost.grid.h, cost.grid.w), row.dim, row.heads, row.depth,
          name_of(attention.mechanism), cost.landmarks, cost.params, millions(cost.macs),
          millions(cost.inverse_macs));
  }
  print("head", "", "", "", "", "", "", report.cost.head_params, millions(report.cost.head_macs),
        "");
}

void print_settings(const ModelSpec& spec) {
  constexpr size_t kWidth = 88;
  const Json settings = settings_of(spec);
  std::string line;
  const char* label = "settings";
  for (const auto& [key, value] : settings.items()) {
    const std::string item = fmt::format(" {}={}", key, value.get<std::string>());
    if (line.size() + item.size() > kWidth) {
      fmt::print("{:<11}{}\n", label, line);
      line.clear();
      label = "";
    }
    line += item;
  }
  fmt::print("{:<11}{}\n", label, line);
}

void print_for_people(const Report& report) {
  const ModelCost& cost = report.cost;
  fmt::print("{}{}: {}x{} pixels, {} classes\n\n", report.spec.name,
             report.file.empty() ? "" : " in " + report.file, report.image.h, report.image.w,
             report.spec.classes);
  print_stages(report);
  fmt::print("\nparameters  {}\n", cost.params);
  fmt::print("MMACs       {}, with the iterative inverse {}\n", millions(cost.macs),
             millions(cost.macs_with_inverse));
  fmt::print("megabytes   {} of float32 weights, {} of activations per image\n",
             millions(cost.weight_bytes), millions(cost.activation_bytes));
  print_settings(report.spec);
}

void run(const Options& options) {
  const Report report = report_on(options);
  options.json ? print_as_json(report) : print_for_people(report);
}

}  // namespace

void add_info(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, {"info", "Look around", "Parameters, MACs and memory, stage by stage",
                        "soft info soft-tiny\n"
                        "soft info soft-small --size 384x640 --set landmarks=49 --json"});
  command->add_option("model", options->subject, "A model's name or a weights file")
      ->required()
      ->type_name("MODEL|FILE");
  command
      ->add_option_function<std::string>(
          "--size", [options](const std::string& text) { options->size = parse_size(text); },
          "Pixels: N or HxW (default: the model's own)")
      ->type_name("SIZE");
  add_change_flags(command, options->model);
  add_weights_key_flag(command, options->model);
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
