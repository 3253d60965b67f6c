#include "study/lra_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "spec/sequence_task.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

// The paper's Table 6: ListOps, Text, Retrieval, Image, in per cent.
struct Published {
  const char* attention;
  std::array<double, 4> accuracy;
};
constexpr std::array<Published, 6> kPaper{{{"softmax", {37.10, 65.02, 79.35, 38.20}},
                                           {"reformer", {19.05, 64.88, 78.64, 43.29}},
                                           {"linformer", {37.25, 55.91, 79.37, 37.84}},
                                           {"performer", {18.80, 63.81, 78.62, 37.07}},
                                           {"nystromformer", {37.15, 65.52, 79.56, 41.58}},
                                           {"soft-released", {37.40, 63.49, 81.77, 46.91}}}};

size_t task_place(const std::string& task) {
  const auto& tasks = sequence_tasks();
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return t.name == task; });
  if (found == tasks.end()) fail("a result is of the task '{}', which there is not", task);
  return static_cast<size_t>(found - tasks.begin());
}

// The paper's rows first, then ours, then what is no attention.
int form_place(const std::string& form) {
  for (size_t i = 0; i < kPaper.size(); ++i) {
    if (form == kPaper[i].attention) return static_cast<int>(i);
  }
  return form == "soft" ? 10 : form == "none" ? 30 : 20;
}

std::optional<double> published(const std::string& form, size_t task) {
  const int place = form_place(form);
  if (place >= static_cast<int>(kPaper.size())) return std::nullopt;
  return kPaper[place].accuracy[task];
}

struct Cell {
  std::vector<double> accuracies, seconds, minutes;
  double peak_mb = 0, constant = 0;
  Json deviations = Json::array();
  Json params, macs;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Json spread(const std::vector<double>& values) {
  if (values.size() < 2) return nullptr;
  double sum = 0;
  for (double value : values) sum += (value - mean(values)) * (value - mean(values));
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

using Key = std::tuple<size_t, int, std::string, int64_t>;  // task, order, form, steps

void add_result(std::map<Key, Cell>& cells, const Json& result) {
  const Json& run = result.at("run");
  const std::string form = run.at("model").at("form");
  const Key key{task_place(run.at("task")), form_place(form), form, count_at(run, "steps")};
  Cell& cell = cells[key];
  cell.accuracies.push_back(result.at("test_accuracy"));
  cell.seconds.push_back(result.at("step_seconds"));
  cell.minutes.push_back(result.at("train_seconds").get<double>() / 60);
  cell.peak_mb = std::max(cell.peak_mb, 1e-6 * result.at("peak_bytes").get<double>());
  cell.constant = result.at("best_constant");
  cell.params = count_at(result, "params");
  cell.macs = result.value("macs", Json());
  cell.deviations = run.at("deviations");
}

Json row_of(const Key& key, const Cell& cell) {
  const auto& [task, order, form, steps] = key;
  const auto paper = published(form, task);
  return {{"task", sequence_tasks()[task].name},
          {"attention", form},
          {"steps", steps},
          {"seeds", cell.accuracies.size()},
          {"accuracy", mean(cell.accuracies)},
          {"spread", spread(cell.accuracies)},
          {"best_constant", cell.constant},
          {"paper", paper ? Json(*paper) : Json()},
          {"step_seconds", mean(cell.seconds)},
          {"minutes", mean(cell.minutes)},
          {"peak_mb", cell.peak_mb},
          {"params", cell.params},
          {"macs", cell.macs},
          {"deviations", cell.deviations}};
}

// Of a task and form, the row with the most steps.
const Json* longest(const Json& rows, std::string_view task, const std::string& form) {
  const Json* found = nullptr;
  for (const Json& row : rows) {
    if (row.at("task") == task && row.at("attention") == form) found = &row;  // steps ascend
  }
  return found;
}

std::vector<std::string> forms_of(const Json& rows) {
  std::vector<std::string> forms;
  for (const Published& row : kPaper) forms.emplace_back(row.attention);
  for (const Json& row : rows) {
    if (std::find(forms.begin(), forms.end(), row.at("attention")) == forms.end()) {
      forms.push_back(row.at("attention"));
    }
  }
  std::stable_sort(forms.begin(), forms.end(),
                   [](const auto& a, const auto& b) { return form_place(a) < form_place(b); });
  return forms;
}

std::string number(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

}  // namespace

Json read_lra_results(const std::string& folder) {
  if (!fs::is_directory(folder)) fail("no folder '{}'", folder);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "result.json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  Json results = Json::array();
  for (const std::string& file : files) {
    results.push_back(parse_json(read_text(file), "'" + file + "'"));
    try {
      std::map<Key, Cell> probe;
      add_result(probe, results.back());
    } catch (const Json::exception& error) {
      fail("'{}' is no result of `soft lra train`: {}", file, error.what());
    }
  }
  if (results.empty()) fail("no result.json below '{}'; `soft lra train` writes them", folder);
  return results;
}

Json lra_rows(const Json& results) {
  std::map<Key, Cell> cells;
  for (const Json& result : results) add_result(cells, result);
  Json rows = Json::array();
  for (const auto& [key, cell] : cells) rows.push_back(row_of(key, cell));
  return rows;
}

std::string lra_table(const Json& rows) {
  std::string text = fmt::format("{:<15}", "% right");
  for (const SequenceTask& task : sequence_tasks()) text += fmt::format("{:>9} paper", task.title);
  text += '\n';
  for (const std::string& form : forms_of(rows)) {
    text += fmt::format("{:<15}", form);
    for (size_t task = 0; task < sequence_tasks().size(); ++task) {
      const Json* row = longest(rows, sequence_tasks()[task].name, form);
      const auto ours = row ? std::optional<double>(row->at("accuracy")) : std::nullopt;
      text += fmt::format("{:>9} {:>5}", number(ours), number(published(form, task)));
    }
    text += '\n';
  }
  return text;
}

BarChart lra_chart(const Json& rows) {
  BarChart chart;
  chart.title = "Long Range Arena";
  chart.y.label = "right answers (%)";
  chart.y.low = 0;
  for (const SequenceTask& task : sequence_tasks()) chart.groups.emplace_back(task.title);
  for (const std::string& form : forms_of(rows)) {
    BarSet set{form, {}};
    bool any = false;
    for (const SequenceTask& task : sequence_tasks()) {
      const Json* row = longest(rows, task.name, form);
      set.values.push_back(row ? row->at("accuracy").get<double>() : 0);
      any = any || row != nullptr;
    }
    if (any) chart.sets.push_back(set);
  }
  return chart;
}

}  // namespace soft
