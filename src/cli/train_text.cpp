#include "cli/train_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/memory.h"
#include "cli/command.h"

namespace soft {
namespace {

struct Columns {
  size_t indent, width;
};
constexpr Columns kPlan{11, 74};  // "soft: " stands before a line on stderr
constexpr Columns kSettings{27, 80};

// "label      text", broken between words and indented where it is too long; a long label has a
// line for itself.
void add(std::vector<std::string>& lines, const std::string& label, const std::string& text,
         const Columns& columns = kPlan) {
  const std::string margin(columns.indent, ' ');
  std::string line = fmt::format("{:<{}}", label, columns.indent);
  if (label.size() >= columns.indent) lines.push_back(std::exchange(line, margin));
  bool begun = false;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (begun && line.size() + 1 + word.size() > columns.width) {
      lines.push_back(std::exchange(line, margin));
      begun = false;
    }
    line += (begun ? " " : "") + word;
    begun = true;
  }
  lines.push_back(line);
}

std::string text_of(const Json& plan, const char* key) { return plan.at(key).get<std::string>(); }

std::string pictures_text(const Json& plan) {
  const double held = plan.at("val_fraction").get<double>();
  std::string text =
      fmt::format("{} to train on, {} to validate with", plan.at("train_images").get<int64_t>(),
                  plan.at("val_images").get<int64_t>());
  if (held > 0) text += fmt::format(" ({:.3g} % of each class, held out)", 100 * held);
  return text + fmt::format("; {} classes, {} px", plan.at("classes").get<int>(),
                            plan.at("image_size").get<int>());
}

std::string recipe_text(const Json& plan) {
  const std::string why = text_of(plan, "why");
  return text_of(plan, "preset") + (why.empty() ? "" : ", chosen because " + why);
}

std::string steps_text(const Json& plan) {
  const int ranks = plan.at("ranks").get<int>();
  const std::string each = ranks > 1 ? fmt::format(" on each of {} ranks", ranks) : "";
  return fmt::format("{} epochs, {} steps, batch {}{}, {:.1f} TMACs in all",
                     plan.at("epochs").get<int>(), plan.at("steps").get<int64_t>(),
                     plan.at("batch").get<int64_t>(), each,
                     plan.at("total_macs").get<double>() / 1e12);
}

void add_measured(std::vector<std::string>& lines, const Json& plan) {
  const int steps = plan.at("steps_measured").get<int>();
  const std::string how = steps > 0 ? fmt::format("measured over {} steps", steps)
                                    : "reckoned from steps on few pictures";
  add(lines, "time",
      fmt::format("about {} ({:.3g} s a step, {})", duration_text(plan.at("seconds").get<double>()),
                  plan.at("step_seconds").get<double>(), how));
  add(lines, "memory",
      fmt::format("about {}, {}", bytes_text(plan.at("memory_bytes").get<double>()),
                  steps > 0 ? "measured" : "reckoned"));
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::vector<std::string> plan_lines(const Json& plan) {
  std::vector<std::string> lines;
  add(lines, "model",
      fmt::format("{}, {} parameters", text_of(plan, "model"), plan.at("params").get<int64_t>()));
  add(lines, "data", text_of(plan, "data"));
  add(lines, "pictures", pictures_text(plan));
  add(lines, "recipe", recipe_text(plan));
  add(lines, "schedule", steps_text(plan));
  add(lines, "rate",
      fmt::format("{:.3g} at its peak, {:.1g} at the end; EMA {}", plan.at("lr").get<double>(),
                  plan.at("min_lr").get<double>(), text_of(plan, "ema")));
  if (plan.contains("seconds")) add_measured(lines, plan);
  return lines;
}

std::string health_text(const std::vector<LayerHealth>& layers) {
  constexpr size_t kFew = 4;
  const auto one = [](const LayerHealth& layer) {
    std::string text = fmt::format("{}.{} {:.2g}", layer.stage, layer.layer, layer.share);
    if (std::isfinite(layer.rank)) {
      text += fmt::format(" (K1 {:.2g}, rank {:.2g})", layer.kernel_median, layer.rank);
    }
    return text;
  };
  std::string text = "attention, Y/V:";
  if (layers.size() <= kFew) {
    for (const LayerHealth& layer : layers) text += " " + one(layer);
    return text;
  }
  const auto [least, most] = std::minmax_element(
      layers.begin(), layers.end(),
      [](const LayerHealth& a, const LayerHealth& b) { return a.share < b.share; });
  return text + " least " + one(*least) + ", most " + one(*most);
}

void print_settings(const std::vector<SettingRow>& rows, bool json) {
  Json array = Json::array();
  std::string owner;
  for (const SettingRow& row : rows) {
    array.push_back({{"owner", row.owner},
                     {"key", row.key},
                     {"value", row.value},
                     {"values", row.values},
                     {"meaning", row.meaning}});
    if (json) continue;
    if (row.owner != owner) fmt::print("{}of the {}\n", owner.empty() ? "" : "\n", row.owner);
    owner = row.owner;
    std::vector<std::string> lines;
    add(lines, fmt::format("  {}={}", row.key, row.value), row.meaning, kSettings);
    for (const std::string& line : lines) fmt::print("{}\n", line);
  }
  if (json) print_json(array);
}

}  // namespace soft
