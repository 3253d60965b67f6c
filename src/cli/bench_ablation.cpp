// `soft bench ablation`: SOFT with one setting changed at a time (the paper's Tables 4 and 5, and
// the switches that it leaves out).
#include <fmt/ranges.h>

#include <memory>

#include "cli/command.h"
#include "cli/frame.h"

namespace soft {
namespace {

struct Question {
  std::string_view name;  // --vary
  std::string_view key;   // of --set
  std::vector<std::string> values;
};

const std::vector<Question>& questions() {
  static const std::vector<Question> all{
      {"landmarks", "landmarks", {"36", "49", "64", "81"}},         // Table 4a
      {"sampler", "sampler", {"conv", "random", "biased", "avg"}},  // Table 4b
      {"pyramid", "pyramid", {"on", "off"}},                        // Table 5a
      {"overlap", "overlap", {"on", "off"}},                        // Table 5b
      {"inverse", "inverse", {"newton", "newton-adaptive", "newton-paper", "exact"}},
      {"iterations", "newton_steps", {"5", "10", "15", "20", "30"}},
      {"value-path", "value_path", {"on", "off"}},
      {"stage4", "stage4", {"softmax", "soft"}},
  };
  return all;
}

std::vector<std::string_view> question_names() {
  std::vector<std::string_view> names;
  for (const Question& question : questions()) names.push_back(question.name);
  return names;
}

struct BenchAblationOptions {
  FrameOptions frame;
  std::string vary;
  std::vector<std::string> values;
};

void run(const BenchAblationOptions& options) {
  const Question& question = questions()[parse_name("vary", options.vary, question_names())];
  const ModelSpec frame = frame_of(options.frame);
  std::vector<Variant> variants;
  for (const std::string& value : options.values.empty() ? question.values : options.values) {
    const auto setting = fmt::format("{}={}", question.key, value);
    ModelSpec spec = frame;
    apply_setting(spec, setting);
    variants.push_back({{{std::string(question.key), value}}, setting, spec});
  }
  report(frame_rows(variants, options.frame), options.frame.bench);
}

}  // namespace

void add_bench_ablation(CLI::App& bench) {
  auto options = std::make_shared<BenchAblationOptions>();
  CLI::App* command =
      add_command(bench, {"ablation", "Commands", "SOFT with one setting varied (Tables 4 and 5)",
                          "soft bench ablation --vary landmarks --counts\n"
                          "soft bench ablation --vary sampler --model soft-nano --repeat 3"});
  command->add_option("--vary", options->vary, fmt::format("{}", fmt::join(question_names(), ", ")))
      ->required()
      ->type_name("WHAT");
  command->add_option("--values", options->values, "Other values than the paper's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("V[,V...]");
  add_frame_flags(command, options->frame);
  command->callback([options] { run(*options); });
}

}  // namespace soft
