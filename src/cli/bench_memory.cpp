// `soft bench memory`: the paper's Figure 1b. One frame (a ViT), one picture, n = 784·p tokens, and
// the memory that a forward pass and a training step take with each mechanism.
#include <fmt/core.h>

#include <limits>
#include <memory>

#include "base/parallel.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/frame.h"
#include "study/fit.h"

namespace soft {
namespace {

constexpr int64_t kSide = 28;  // tokens: 28 x 28p patches are 784p tokens

struct BenchMemoryOptions {
  std::vector<std::string> attentions{"soft", "softmax", "linformer", "performer", "nystromformer"};
  std::vector<int> multiples{1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
  bool forward_only = false;
  BenchOptions bench;
};

ModelSpec frame_with(const std::string& attention) {
  ModelSpec spec = with_attention(find_model("vit-small-384x12"), attention);
  if (shortens_keys(spec.attention)) spec.landmarks = 49;
  validate(spec);
  return spec;
}

// One mechanism's memory. It only grows with the tokens: beyond a case that did not fit, none is
// tried.
class Column {
 public:
  explicit Column(decltype(step_megabytes)* measure) : measure_(measure) {}

  Json at(const std::string& name, const ModelSpec& spec, int multiple) {
    if (multiple >= too_many_) return nullptr;
    const Grid size{kSide * spec.patch, kSide * multiple * spec.patch};
    Json megabytes = measure_(name, spec, size, 1);
    if (megabytes.is_null()) too_many_ = multiple;
    return megabytes;
  }

 private:
  decltype(step_megabytes)* measure_;
  int too_many_ = std::numeric_limits<int>::max();
};

void add_rows(Json& rows, const std::string& attention, const BenchMemoryOptions& options) {
  const ModelSpec spec = frame_with(attention);
  Column forward(forward_megabytes);
  Column step(step_megabytes);
  for (const int multiple : options.multiples) {
    const int64_t tokens = kSide * kSide * multiple;
    const auto name = fmt::format("memory of {}, {} tokens", attention, tokens);
    Json row{{"attention", attention}, {"tokens", tokens}};
    row["forward_mb"] = forward.at(name, spec, multiple);
    if (!options.forward_only) row["step_mb"] = step.at(name + ", step", spec, multiple);
    rows.push_back(row);
  }
}

Drawing chart_of(const Json& rows, const BenchMemoryOptions& options) {
  LineChart chart;
  const char* column = options.forward_only ? "forward_mb" : "step_mb";
  chart.title = options.forward_only
                    ? "Memory of a forward pass against tokens (ViT, one picture)"
                    : "Memory of a training step against tokens (ViT, one picture)";
  chart.x = {"tokens", false, 0, {}};
  chart.y = {"MB", false, 0, {}};
  for (const std::string& attention : options.attentions) {
    Series series;
    for (const Json& row : rows) {
      if (row.at("attention") != attention || row.at(column).is_null()) continue;
      series.points.push_back({row.at("tokens").get<double>(), row.at(column).get<double>()});
    }
    series.name = with_exponent(attention, series.points);
    chart.series.push_back(series);
  }
  return draw(chart);
}

void run(const BenchMemoryOptions& options) {
  Json rows = Json::array();
  for (const std::string& attention : options.attentions) add_rows(rows, attention, options);
  report(rows, options.bench);
  plot(chart_of(rows, options), options.bench);
}

}  // namespace

void add_bench_memory(CLI::App& bench) {
  auto options = std::make_shared<BenchMemoryOptions>();
  CLI::App* command =
      add_command(bench, {"memory", "Commands", "Memory against tokens in a ViT (Figure 1b)",
                          "soft bench memory --attention soft,softmax --multiple 1,2 --forward\n"
                          "soft bench memory --plot memory.svg"});
  add_attention_list_flag(command, options->attentions);
  command
      ->add_option("--multiple", options->multiples,
                   "p of n = 784p tokens (default: 1 to 8, 12 and 16)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 36).description(""))
      ->type_name("P[,P...]");
  command->add_flag("--forward", options->forward_only, "Without the training step");
  add_output_flags(command, options->bench);
  add_plot_flag(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
