#include "study/attention_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "plot/chart.h"
#include "study/fit.h"

namespace soft {
namespace {

// The points (tokens, column) of every mechanism in one pass, in the order of the rows.
std::vector<Series> series_of(const std::vector<Json>& rows, const char* pass, const char* column) {
  std::vector<Series> all;
  for (const Json& row : rows) {
    if (row.at("pass") != pass) continue;
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
  Json exponents = Json::array();
  for (const char* pass : {"forward", "step"}) {
    const auto times = series_of(rows, pass, "ms_median"), memories = series_of(rows, pass, "mb");
    for (size_t i = 0; i < times.size(); ++i) {
      exponents.push_back({{"attention", times[i].name},
                           {"pass", pass},
                           {"time_exponent", exponent_in(times[i])},
                           {"memory_exponent", exponent_in(memories[i])}});
    }
  }
  return exponents;
}

const Series* find(const std::vector<Series>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](auto& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// From how many tokens on SOFT pays against exact softmax, in this column.
std::optional<double> pays_from(const std::vector<Json>& rows, const char* pass,
                                const char* column) {
  const auto all = series_of(rows, pass, column);
  const Series *soft = find(all, "soft"), *softmax = find(all, "softmax");
  if (soft == nullptr || softmax == nullptr) return {};
  return crossing_of(soft->points, softmax->points);
}

Json crossings_of(const std::vector<Json>& rows) {
  Json crossings = Json::array();
  for (const char* pass : {"forward", "step"}) {
    const auto time = pays_from(rows, pass, "ms_median"), memory = pays_from(rows, pass, "mb");
    if (!time && !memory) continue;
    const auto number = [](const auto& value) { return value ? Json(std::round(*value)) : Json(); };
    crossings.push_back({{"crossing", "soft below softmax"},
                         {"pass", pass},
                         {"faster_from_tokens", number(time)},
                         {"smaller_from_tokens", number(memory)}});
  }
  return crossings;
}

}  // namespace

Json growth_of(const std::vector<Json>& rows) {
  Json all = exponents_of(rows);
  for (const Json& row : crossings_of(rows)) all.push_back(row);
  return all;
}

Drawing attention_chart(const std::vector<Json>& rows, const char* pass) {
  LineChart chart;
  chart.title = fmt::format("Time of one attention, {}, against the number of tokens", pass);
  if (const auto crossing = pays_from(rows, pass, "ms_median")) {
    chart.title = fmt::format(
        "One attention, {}: soft is faster than softmax from {:.0f} tokens on", pass, *crossing);
  }
  chart.x = {"tokens", true, {}, {}};
  chart.y = {"milliseconds", true, {}, {}};
  chart.series = series_of(rows, pass, "ms_median");
  for (Series& series : chart.series) series.name = with_exponent(series.name, series.points);
  return draw(chart);
}

}  // namespace soft
