// `soft bench table1`: the paper's Table 1. The mechanisms in one frame, beside what it published.
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/frame.h"

namespace soft {
namespace {

struct BenchTable1Options {
  FrameOptions frame;
  std::vector<std::string> attentions{"softmax",       "linformer", "performer",
                                      "nystromformer", "soft",      "gaussian"};
};

struct Published {
  double gmacs, top1;
};

// Of the paper's Table 1: FLOPs in G, and top-1 on ImageNet.
const std::map<std::string, Published> kPaper{{"softmax", {3.9, 79.1}},
                                              {"linformer", {1.9, 78.2}},
                                              {"performer", {2.2, 76.1}},
                                              {"nystromformer", {2.0, 78.6}},
                                              {"soft", {1.9, 79.3}}};

void add_published(Json& row) {
  const auto found = kPaper.find(row.at("attention"));
  const bool known = found != kPaper.end();
  row["paper_gflops"] = known ? Json(found->second.gmacs) : Json();
  row["paper_top1"] = known ? Json(found->second.top1) : Json();
}

void run(const BenchTable1Options& options) {
  const ModelSpec frame = frame_of(options.frame);
  std::vector<Variant> variants;
  for (const std::string& attention : options.attentions) {
    variants.push_back({{{"attention", attention}}, attention, with_attention(frame, attention)});
  }
  Json rows = frame_rows(variants, options.frame);
  if (frame.name == "soft-tiny") {
    for (Json& row : rows) add_published(row);
  }
  report(rows, options.frame.bench);
}

}  // namespace

void add_bench_table1(CLI::App& bench) {
  auto options = std::make_shared<BenchTable1Options>();
  CLI::App* command =
      add_command(bench, {"table1", "Commands", "Cost of the mechanisms in one model (Table 1)",
                          "soft bench table1 --counts\n"
                          "soft bench table1 --model soft-pico --batch 64 --repeat 3"});
  add_attention_list_flag(command, options->attentions);
  add_frame_flags(command, options->frame);
  command->callback([options] { run(*options); });
}

}  // namespace soft
