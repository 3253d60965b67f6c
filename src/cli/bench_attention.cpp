// `soft bench attention`: time and memory of every mechanism against the number of tokens.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/parallel.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "study/child.h"
#include "study/fit.h"
#include "wing/wing.h"

namespace soft {
namespace {

constexpr int kLandmarkSide = 7;  // 49 landmarks at every size, so that only n changes

struct BenchAttentionOptions {
  std::vector<std::string> attentions{"soft",          "softmax",  "linformer", "performer",
                                      "nystromformer", "reformer", "gaussian"};
  std::vector<int> sides{28, 42, 56, 84, 112};
  int heads = 2;
  bool backward = false;
  bool compare = false;
  BenchOptions bench;
};

struct AttentionCase {
  std::string name;
  TorchMix mix;
  Json megabytes;  // null: did not fit
};

AttentionCase make_case(const std::string& attention, int side,
                        const BenchAttentionOptions& options) {
  AttentionCase made;
  made.name = attention;
  AttentionSpec& spec = made.mix.spec;
  spec.mechanism = parse_enum<Mechanism>("attention", attention);
  spec.heads = options.heads;
  spec.dim = options.heads * base_head_dim();
  spec.ratio = side / kLandmarkSide;
  made.mix.grid = {side, side};
  made.mix.threads = threads();
  made.mix.backward = options.backward;
  validate(spec);
  return made;
}

std::vector<AttentionCase> cases_at(int side, const BenchAttentionOptions& options) {
  std::vector<AttentionCase> cases;
  for (const std::string& attention : options.attentions) {
    cases.push_back(make_case(attention, side, options));
    if (!options.compare || attention != "soft") continue;
    cases.push_back(cases.back());
    cases.back().name = "soft-plain";
    cases.back().mix.fused = false;
  }
  return cases;
}

// Above what Q, K and V take; a small case goes first, so that LibTorch's own start does not count.
Json measure_memory(const AttentionCase& one) {
  TorchMix small = one.mix;
  small.spec.ratio = 1;
  small.grid = {kLandmarkSide, kLandmarkSide};
  torch_wing().mix(small)();
  const auto run = torch_wing().mix(one.mix);
  return peak_growth(run);
}

void add_times(std::vector<Json>& rows, const std::vector<AttentionCase>& cases,
               const BenchAttentionOptions& options) {
  std::vector<Contestant> contestants;
  for (const AttentionCase& one : cases) {
    if (one.megabytes.is_null()) continue;
    contestants.push_back(
        {fmt::format("{}, {} tokens", one.name, one.mix.grid.size()), torch_wing().mix(one.mix)});
  }
  const std::vector<Timing> timings = measure(contestants, options.bench);
  auto timing = timings.begin();
  for (const AttentionCase& one : cases) {
    const bool fits = !one.megabytes.is_null();
    const auto time = [&](double seconds) { return fits ? Json(1e3 * seconds) : Json(); };
    rows.push_back({{"attention", one.name},
                    {"tokens", one.mix.grid.size()},
                    {"threads", threads()},
                    {"ms_median", time(fits ? timing->median() : 0)},
                    {"ms_best", time(fits ? timing->best() : 0)},
                    {"ms_spread", time(fits ? timing->spread() : 0)},
                    {"mb", one.megabytes}});
    if (fits) ++timing;
  }
}

// The points (tokens, column) of every mechanism, in the order of the rows.
std::vector<Series> series_of(const std::vector<Json>& rows, const char* column) {
  std::vector<Series> all;
  for (const Json& row : rows) {
    const std::string name = row.at("attention");
    auto found = std::find_if(all.begin(), all.end(), [&](auto& s) { return s.name == name; });
    if (found == all.end()) found = all.insert(all.end(), {name, {}, false});
    if (row.at(column).is_null()) continue;
    found->points.push_back({row.at("tokens").get<double>(), row.at(column).get<double>()});
  }
  return all;
}

Json exponent_in(const Series& series) {
  const std::optional<double> exponent = exponent_of(series.points);
  return exponent ? Json(*exponent) : Json();
}

Json exponents_of(const std::vector<Json>& rows) {
  const auto times = series_of(rows, "ms_median"), memories = series_of(rows, "mb");
  Json exponents = Json::array();
  for (size_t i = 0; i < times.size(); ++i) {
    exponents.push_back({{"attention", times[i].name},
                         {"time_exponent", exponent_in(times[i])},
                         {"memory_exponent", exponent_in(memories[i])}});
  }
  return exponents;
}

Drawing chart_of(const std::vector<Json>& rows) {
  LineChart chart;
  chart.title = "Time of one attention against the number of tokens";
  chart.x = {"tokens", true, {}, {}};
  chart.y = {"milliseconds", true, {}, {}};
  chart.series = series_of(rows, "ms_median");
  for (Series& series : chart.series) series.name = with_exponent(series.name, series.points);
  return draw(chart);
}

void run(const BenchAttentionOptions& options) {
  std::vector<std::vector<AttentionCase>> by_size;
  for (const int side : options.sides) by_size.push_back(cases_at(side, options));
  for (auto& cases : by_size) {
    for (AttentionCase& one : cases) {
      const auto name = fmt::format("memory of {}, {} tokens", one.name, one.mix.grid.size());
      one.megabytes = peak_megabytes(name, [&] { return measure_memory(one); });
    }
  }
  std::vector<Json> rows;
  for (const auto& cases : by_size) add_times(rows, cases, options);
  Json all = rows;
  if (options.sides.size() > 1) {
    for (const Json& row : exponents_of(rows)) all.push_back(row);
  }
  report(all, options.bench);
  plot(chart_of(rows), options.bench);
}

void check_side(const std::string& text) {
  if (std::stoi(text) % kLandmarkSide != 0) {
    fail_usage("--side {}: take a multiple of 7, so that all sizes have 49 landmarks", text);
  }
}

}  // namespace

void add_bench_attention(CLI::App& bench) {
  auto options = std::make_shared<BenchAttentionOptions>();
  CLI::App* command = add_command(
      bench, {"attention", "Commands", "Time and memory of the mechanisms against tokens",
              "soft bench attention --attention soft,softmax --side 28,56 --repeat 2\n"
              "soft bench attention --plot attention.svg"});
  add_attention_list_flag(command, options->attentions);
  command
      ->add_option("--side", options->sides,
                   "Tokens per side of the grid, multiples of 7 (default: 28,42,56,84,112)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(7, 1792).description(""))
      ->each(check_side)
      ->type_name("S[,S...]");
  command->add_option("--heads", options->heads, "Heads of 32 channels (default: 2)")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N");
  command->add_flag("--backward", options->backward, "Forward and backward");
  command->add_flag("--compare", options->compare, "Also SOFT as its plain tensor expression");
  add_bench_flags(command, options->bench);
  add_plot_flag(command, options->bench);
  command->callback([options] { run(*options); });
}

}  // namespace soft
