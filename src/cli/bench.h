// `soft bench`: one file for each thing to measure. All report the same way: rows of results, as a
// table, as JSON and as a CSV file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/model_options.h"
#include "facade/runner.h"
#include "plot/chart.h"
#include "study/timing.h"

namespace soft {

// Each adds its subcommand to `soft bench`.
void add_bench_ablation(CLI::App& bench);
void add_bench_attention(CLI::App& bench);
void add_bench_data(CLI::App& bench);
void add_bench_memory(CLI::App& bench);
void add_bench_model(CLI::App& bench);
void add_bench_newton(CLI::App& bench);
void add_bench_roofline(CLI::App& bench);
void add_bench_scale(CLI::App& bench);
void add_bench_table1(CLI::App& bench);
void add_bench_table3(CLI::App& bench);
void add_bench_train(CLI::App& bench);

struct BenchOptions {
  int repeat = 0;  // 0: for about two seconds
  std::string csv;
  std::string plot;
  bool json = false;
};

void add_output_flags(CLI::App* command, BenchOptions& options);  // --csv, --json
void add_bench_flags(CLI::App* command, BenchOptions& options);   // and --repeat
void add_plot_flag(CLI::App* command, BenchOptions& options);     // --plot FILE.svg or FILE.png

// --attention K[,K...]: every name is checked.
void add_attention_list_flag(CLI::App* command, std::vector<std::string>& attentions,
                             const std::vector<std::string_view>& names = names_of(Mechanism{}));

// The model to measure: soft-tiny unless the flags name another, with random weights unless they
// name a file.
void add_bench_model_flags(CLI::App* command, ModelOptions& options);
LoadedModel load_bench_model(ModelOptions options);
void add_batch_flag(CLI::App* command, std::vector<int>& batches);

// Runs the contestants with progress on stderr.
std::vector<Timing> measure(const std::vector<Contestant>& contestants,
                            const BenchOptions& options);

// `rows` is an array of flat objects.
void report(const Json& rows, const BenchOptions& options);

// Writes the drawing to --plot's file, when there is one.
void plot(const Drawing& drawing, const BenchOptions& options);

// Peak memory of `work` in a child process, in MB; null, with a line on stderr that names it, when
// it did not fit. Only before this process has opened LibTorch: call it for all cases first.
Json peak_megabytes(const std::string& name, const std::function<Json()>& work);

}  // namespace soft
