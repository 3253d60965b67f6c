#include "cli/bench.h"

#include <fmt/ranges.h>

#include <ostream>

#include "base/file.h"
#include "base/log.h"
#include "cli/chart_file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "study/child.h"
#include "study/table.h"

namespace soft {

void add_bench_flags(CLI::App* command, BenchOptions& options) {
  command
      ->add_option("--repeat", options.repeat,
                   "Timed runs of each (default: as many as fit into two seconds)")
      ->check(CLI::Range(1, 1'000'000).description(""))
      ->type_name("N");
  add_output_flags(command, options);
}

void add_output_flags(CLI::App* command, BenchOptions& options) {
  command
      ->add_option_function<std::string>(
          "--csv",
          [&options](const std::string& path) {
            check_output(path);
            options.csv = path;
          },
          "Also write the rows to this file")
      ->type_name("FILE");
  add_json_flag(command, options.json);
}

void add_plot_flag(CLI::App* command, BenchOptions& options) {
  command
      ->add_option_function<std::string>(
          "--plot",
          [&options](const std::string& path) {
            check_chart_file(path);
            options.plot = path;
          },
          "Also draw a chart into this .svg or .png file")
      ->type_name("FILE");
}

void add_attention_list_flag(CLI::App* command, std::vector<std::string>& attentions,
                             const std::vector<std::string_view>& names) {
  command
      ->add_option("--attention", attentions,
                   fmt::format("Mechanisms (default: {})", fmt::join(attentions, ",")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->each([names](const std::string& name) { parse_name("attention", name, names); })
      ->type_name("K[,K...]");
}

void add_bench_model_flags(CLI::App* command, ModelOptions& options) {
  add_model_flag(command, options);
  command
      ->add_option("--weights", options.weights,
                   "A .safetensors or .pth file (default: random weights, which take as long)")
      ->type_name("FILE");
  add_change_flags(command, options);
  add_weights_key_flag(command, options);
}

LoadedModel load_bench_model(ModelOptions options) {
  if (options.weights.empty() && options.model.empty()) options.model = "soft-tiny";
  return load_model(options);
}

void add_batch_flag(CLI::App* command, std::vector<int>& batches) {
  const auto what = fmt::format("Pictures at a time (default: {})", fmt::join(batches, ","));
  command->add_option("--batch", batches, what)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("B[,B...]");
}

std::vector<Timing> measure(const std::vector<Contestant>& contestants,
                            const BenchOptions& options) {
  ProgressLine progress;
  TimingPlan plan;
  plan.repeat = options.repeat;
  plan.progress = [&](const std::string& text) { progress.show(text); };
  return time_in_turns(contestants, plan);
}

void report(const Json& rows, const BenchOptions& options) {
  if (!options.csv.empty()) {
    write_atomically(options.csv, [&](std::ostream& out) { out << csv_of(rows); });
  }
  if (options.json) return print_json(rows);
  fmt::print("{}", table_of(rows));
}

void plot(const Drawing& drawing, const BenchOptions& options) {
  if (!options.plot.empty()) write_chart(options.plot, drawing);
}

Json peak_megabytes(const std::string& name, const std::function<Json()>& work) {
  static ProgressLine progress;  // one for all cases, as each is a single step
  progress.show(name);
  const ChildResult result = in_child(work);
  progress.clear();
  if (result.ok()) return result.value.get<double>() / 1e6;
  log("{}: {}", name, result.failure);
  return nullptr;
}

void add_bench(CLI::App& app) {
  CLI::App* bench = add_command(
      app, {"bench", "Measure", "Time models and the machine", "soft bench model --repeat 3"});
  bench->require_subcommand(1);
  add_bench_model(*bench);
  add_bench_train(*bench);
  add_bench_data(*bench);
  add_bench_attention(*bench);
  add_bench_memory(*bench);
  add_bench_table1(*bench);
  add_bench_table3(*bench);
  add_bench_ablation(*bench);
  add_bench_newton(*bench);
  add_bench_roofline(*bench);
  add_bench_scale(*bench);
}

}  // namespace soft
