// `soft bench attention`: time and memory of every mechanism against the number of tokens, of
// pictures or of sequences.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "base/parallel.h"
#include "base/seconds.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "spec/sequence_spec.h"
#include "study/attention_growth.h"
#include "study/child.h"
#include "wing/wing.h"

namespace soft {
namespace {

constexpr int kLandmarkSide = 7;       // 49 landmarks at every size, so that only n changes,
constexpr int64_t kFewestTokens = 64;  // and 64 of sequences

struct BenchAttentionOptions {
  std::vector<std::string> attentions{"soft",          "softmax",  "linformer", "performer",
                                      "nystromformer", "reformer", "gaussian"};
  std::vector<int> sides{28, 42, 56, 84, 112};
  std::vector<int64_t> tokens{1024, 4096, 16'384, 65'536};
  int heads = 2;
  bool sequence = false;
  bool backward = false;
  bool compare = false;
  std::string sampler = "conv";
  double patience = 0;  // seconds; 0: endless
  BenchOptions bench;
};

struct AttentionCase {
  std::string name;
  TorchMix mix;
  TorchMix smallest;   // of the same mechanism
  Json megabytes{};    // null: did not fit
  double seconds = 0;  // of the run that showed it, its preparation included

  const char* pass() const { return mix.backward ? "step" : "forward"; }
};

TorchMix picture_mix(const std::string& attention, int side, const BenchAttentionOptions& options) {
  TorchMix mix;
  mix.spec.mechanism = parse_enum<Mechanism>("attention", attention);
  mix.spec.heads = options.heads;
  mix.spec.dim = options.heads * base_head_dim();
  mix.spec.ratio = side / kLandmarkSide;
  mix.spec.sampler = parse_enum<Sampler>("sampler", options.sampler);
  mix.grid = {side, side};
  validate(mix.spec);
  return mix;
}

// As the Long Range Arena's models have it, at another length.
TorchMix sequence_mix(const std::string& attention, int64_t tokens,
                      const BenchAttentionOptions& options) {
  SequenceTask task = find_sequence_task("text");
  task.length = tokens;
  SequenceSettings settings;
  settings.form = attention;
  settings.landmarks = fmt::format("{}", kFewestTokens);
  settings.settings = {fmt::format("dims={}", options.heads * base_head_dim()),
                       fmt::format("heads={}", options.heads)};
  TorchMix mix;
  mix.spec = attention_of(sequence_spec(task, settings));
  mix.grid = {tokens, 1};
  return mix;
}

AttentionCase make_case(const std::string& attention, int64_t size, bool backward,
                        const BenchAttentionOptions& options) {
  const auto mix_at = [&](int64_t at) {
    TorchMix mix = options.sequence ? sequence_mix(attention, at, options)
                                    : picture_mix(attention, static_cast<int>(at), options);
    mix.threads = threads();
    mix.backward = backward;
    return mix;
  };
  return {attention, mix_at(size), mix_at(options.sequence ? kFewestTokens : kLandmarkSide)};
}

// A size is a side of a picture's grid, or the tokens of a sequence.
std::vector<AttentionCase> cases_at(int64_t size, const BenchAttentionOptions& options) {
  const std::vector<bool> passes =
      options.sequence ? std::vector<bool>{false, true} : std::vector<bool>{options.backward};
  std::vector<AttentionCase> cases;
  for (const bool backward : passes) {
    for (const std::string& attention : options.attentions) {
      cases.push_back(make_case(attention, size, backward, options));
      if (!options.compare || attention != "soft") continue;
      cases.push_back(cases.back());
      cases.back().name = "soft-plain";
      cases.back().mix.fused = false;
    }
  }
  return cases;
}

// Above what Q, K and V take; a small case goes first, so that LibTorch's own start does not count.
Json measure_memory(const AttentionCase& one) {
  torch_wing().mix(one.smallest)();
  const auto run = torch_wing().mix(one.mix);
  return peak_growth(run);
}

void add_times(std::vector<Json>& rows, const std::vector<AttentionCase>& cases,
               const BenchAttentionOptions& options) {
  std::vector<Contestant> contestants;
  for (const AttentionCase& one : cases) {
    if (one.megabytes.is_null()) continue;
    contestants.push_back(
        {fmt::format("{} {}, {} tokens", one.name, one.pass(), one.mix.grid.size()),
         torch_wing().mix(one.mix)});
  }
  const std::vector<Timing> timings = measure(contestants, options.bench);
  auto timing = timings.begin();
  for (const AttentionCase& one : cases) {
    const bool fits = !one.megabytes.is_null();
    const auto time = [&](double seconds) { return fits ? Json(1e3 * seconds) : Json(); };
    rows.push_back({{"attention", one.name},
                    {"pass", one.pass()},
                    {"tokens", one.mix.grid.size()},
                    {"threads", threads()},
                    {"ms_median", time(fits ? timing->median() : 0)},
                    {"ms_best", time(fits ? timing->best() : 0)},
                    {"ms_spread", time(fits ? timing->spread() : 0)},
                    {"mb", one.megabytes}});
    if (fits) ++timing;
  }
}

Drawing chart_of(const std::vector<Json>& rows, const BenchAttentionOptions& options) {
  if (!options.sequence) return attention_chart(rows, options.backward ? "step" : "forward");
  return stacked(attention_chart(rows, "forward"), attention_chart(rows, "step"));
}

const std::vector<AttentionCase>& measure_memories(std::vector<AttentionCase>& cases) {
  for (AttentionCase& one : cases) {
    const auto name =
        fmt::format("memory of {} {}, {} tokens", one.name, one.pass(), one.mix.grid.size());
    const auto begun = std::chrono::steady_clock::now();
    one.megabytes = peak_megabytes(name, [&] { return measure_memory(one); });
    one.seconds = seconds_since(begun);
  }
  return cases;
}

void run(const BenchAttentionOptions& options) {
  std::vector<std::vector<AttentionCase>> by_size;
  for (const int64_t size :
       options.sequence ? options.tokens
                        : std::vector<int64_t>(options.sides.begin(), options.sides.end())) {
    by_size.push_back(cases_at(size, options));
  }
  std::set<std::string> slow;  // not tried at the larger sizes that follow
  for (auto& cases : by_size) {
    const auto is_slow = [&](const AttentionCase& one) {
      return slow.count(one.name + one.pass()) > 0;
    };
    cases.erase(std::remove_if(cases.begin(), cases.end(), is_slow), cases.end());
    for (const AttentionCase& one : measure_memories(cases)) {
      if (options.patience > 0 && one.seconds > options.patience)
        slow.insert(one.name + one.pass());
    }
  }
  std::vector<Json> rows;
  for (const auto& cases : by_size) add_times(rows, cases, options);
  Json all = rows;
  if (by_size.size() > 1) {
    for (const Json& row : growth_of(rows)) all.push_back(row);
  }
  report(all, options.bench);
  plot(chart_of(rows, options), options.bench);
}

void check_side(const std::string& text) {
  if (std::stoi(text) % kLandmarkSide != 0) {
    fail_usage("--side {}: take a multiple of 7, so that all sizes have 49 landmarks", text);
  }
}

void check_tokens(const std::string& text) {
  if (std::stoll(text) % kFewestTokens != 0) {
    fail_usage("--tokens {}: take a multiple of 64, so that all lengths have 64 landmarks", text);
  }
}

}  // namespace

void add_bench_attention(CLI::App& bench) {
  auto options = std::make_shared<BenchAttentionOptions>();
  CLI::App* command = add_command(
      bench,
      {"attention", "Commands", "Time and memory of the mechanisms against tokens",
       "soft bench attention --attention soft,softmax --side 28,56 --repeat 2\n"
       "soft bench attention --plot attention.svg\n"
       "soft bench attention --sequence --attention soft,softmax --tokens 256,512 --repeat 1"});
  add_attention_list_flag(command, options->attentions, sequence_forms());
  command
      ->add_option("--side", options->sides,
                   "Tokens per side of the grid, multiples of 7 (default: 28,42,56,84,112)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(7, 1792).description(""))
      ->each(check_side)
      ->type_name("S[,S...]");
  command->add_flag("--sequence", options->sequence,
                    "Sequences instead of pictures, as `soft lra` trains them: forward, and a step "
                    "that goes back, too (all mechanisms unless --attention names some)");
  command
      ->add_option("--tokens", options->tokens,
                   "Tokens of a sequence, multiples of 64 (default: 1024,4096,16384,65536)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(64, 1 << 20).description(""))
      ->each(check_tokens)
      ->type_name("N[,N...]");
  command->add_option("--heads", options->heads, "Heads of 32 channels (default: 2)")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N");
  command->add_flag("--backward", options->backward, "Forward and backward");
  command->add_flag("--compare", options->compare, "Also SOFT as its plain tensor expression");
  command
      ->add_option(
          "--sampler", options->sampler,
          "SOFT's landmarks of pictures: conv, whose weights grow with the windows, or avg "
          "(default: conv)")
      ->check(CLI::IsMember({"conv", "avg"}).description(""))
      ->type_name("NAME");
  command
      ->add_option("--patience", options->patience,
                   "A mechanism that takes longer than this many seconds at one size is not tried "
                   "at the next ones (default: all are)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("SECONDS");
  add_bench_flags(command, options->bench);
  add_plot_flag(command, options->bench);
  command->callback([command, options] {
    const std::vector<std::string_view> all = sequence_forms();
    if (options->sequence && command->count("--attention") == 0) {
      options->attentions.assign(all.begin(), all.end());
    }
    run(*options);
  });
}

}  // namespace soft
