// `soft bench`: one file for each thing to measure. All report the same way: rows of results, as a
// table, as JSON and as a CSV file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/runner.h"
#include "study/timing.h"

namespace soft {

// Each adds its subcommand to `soft bench`.
void add_bench_model(CLI::App& bench);
void add_bench_roofline(CLI::App& bench);
void add_bench_train(CLI::App& bench);

struct BenchOptions {
  int repeat = 0;  // 0: for about two seconds
  std::string csv;
  bool json = false;
};

void add_bench_flags(CLI::App* command, BenchOptions& options);  // --repeat, --csv, --json

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

}  // namespace soft
