// Variants of one model, measured alike: what table 1 and the ablations compare.
#pragma once

#include <string>
#include <vector>

#include "cli/bench.h"
#include "study/accuracy.h"

namespace soft {

ModelSpec with_attention(ModelSpec spec, const std::string& attention);

// In a child process each; null when it does not fit (see peak_megabytes).
Json forward_megabytes(const std::string& name, const ModelSpec& spec, Grid size, int64_t batch);
Json step_megabytes(const std::string& name, const ModelSpec& spec, Grid size, int64_t batch);

struct Variant {
  Json label;        // first columns of its row: {"attention": "soft"}
  std::string cell;  // its name in scripts/accuracy's file
  ModelSpec spec;
};

struct FrameOptions {
  ModelOptions model;
  int batch = 8;
  bool counts_only = false;  // parameters and MACs; nothing is run
  std::string accuracy;      // folder of scripts/accuracy; empty: no such columns
  BenchOptions bench;
};

// --model, --set, --batch, --counts, --accuracy and those of every bench.
void add_frame_flags(CLI::App* command, FrameOptions& options);
ModelSpec frame_of(const FrameOptions& options);  // soft-tiny unless --model names another

// One row for each: {…label, "params", "gmacs", "gmacs_with_inverse", "step_mb",
// "train_images_per_second", "images_per_second", and with --accuracy "top1", "top1_spread",
// "seeds"}. All run on the torch engine; times are measured in turns. Memory and rates of a variant
// whose step does not fit into memory are null.
Json frame_rows(const std::vector<Variant>& variants, const FrameOptions& options);

}  // namespace soft
