#include "cli/eval_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/printable.h"
#include "cli/terminal.h"

namespace soft {
namespace {

constexpr size_t kMostMistakes = 20;  // lines of the list that stands for a large matrix

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

// The name of a class in so many columns, followed by as many spaces as are left.
std::string padded_name(const std::string& name, size_t columns) {
  const std::string text = cut(shown(name), columns);
  return text + std::string(columns - columns_of(text), ' ');
}

size_t widest_name(const Dataset& dataset, size_t most) {
  size_t widest = 5;
  for (const std::string& name : dataset.classes) {
    widest = std::max(widest, columns_of(shown(name)));
  }
  return std::min(widest, most);
}

// The mean over the classes that have one.
template <class Score>
std::optional<double> mean_of(const std::vector<ClassTally>& classes, const Score& score) {
  Average average;
  for (const ClassTally& tally : classes) {
    if (const std::optional<double> value = score(tally)) average.add(*value);
  }
  return average.weight() > 0 ? std::optional<double>(average.mean()) : std::nullopt;
}

struct Means {
  explicit Means(const std::vector<ClassTally>& classes)
      : precision(mean_of(classes, [](const ClassTally& t) { return t.precision(); })),
        recall(mean_of(classes, [](const ClassTally& t) { return t.recall(); })),
        f1(mean_of(classes, [](const ClassTally& t) { return t.f1(); })) {}

  std::optional<double> precision, recall, f1;
};

void print_per_class(const Evaluation& result, const Dataset& dataset) {
  const size_t width = widest_name(dataset, 36);
  const auto print = [](auto... cells) {
    fmt::print("{}  {:>8}  {:>9}  {:>7}  {:>7}\n", cells...);
  };
  fmt::print("\n");
  print(padded_name("class", width), "images", "precision", "recall", "F1");
  for (size_t i = 0; i < result.per_class.size(); ++i) {
    const ClassTally& tally = result.per_class[i];
    print(padded_name(dataset.classes[i], width), tally.images, percent(tally.precision()),
          percent(tally.recall()), percent(tally.f1()));
  }
  const Means means(result.per_class);
  print(padded_name("mean", width), result.images, percent(means.precision), percent(means.recall),
        percent(means.f1));
}

// A matrix of numbers, as wide as its counts make it.
struct MatrixTable {
  MatrixTable(const Confusion& confusion, const Dataset& dataset)
      : columns(confusion.classes() + (confusion.has_unanswered() ? 1 : 0)) {
    int64_t largest = confusion.classes();  // the columns are headed by class numbers
    for (const Confusion::Cell& cell : confusion.cells()) largest = std::max(largest, cell.count);
    cell_width = std::to_string(largest).size() + 1;
    number_width = std::to_string(confusion.classes() - 1).size();
    const size_t rest = number_width + 1 + 1 + static_cast<size_t>(columns) * cell_width;
    name_width = rest < kColumns ? std::min(widest_name(dataset, 20), kColumns - rest) : 0;
  }
  bool fits() const { return name_width >= 5; }

  int64_t columns;
  size_t cell_width, number_width, name_width;
};

void print_matrix(const Confusion& confusion, const Dataset& dataset, const MatrixTable& table) {
  const int64_t classes = confusion.classes();
  fmt::print("{:<{}}", "", table.number_width + 1 + table.name_width + 1);
  for (int64_t answer = 0; answer < classes; ++answer) {
    fmt::print("{:>{}}", answer, table.cell_width);
  }
  fmt::print("{}\n", table.columns > classes ? fmt::format("{:>{}}", "?", table.cell_width) : "");
  for (int64_t label = 0; label < classes; ++label) {
    fmt::print("{:>{}} {} ", label, table.number_width,
               padded_name(dataset.classes[label], table.name_width));
    for (int64_t i = 0; i < table.columns; ++i) {
      const int64_t count = confusion.count(label, i < classes ? i : Confusion::kUnanswered);
      fmt::print("{:>{}}", count > 0 ? std::to_string(count) : ".", table.cell_width);
    }
    fmt::print("\n");
  }
  if (table.columns > classes) fmt::print("?: pictures that cannot be read\n");
}

void print_mistakes(const Confusion& confusion, const Dataset& dataset) {
  const std::vector<Confusion::Cell> mistakes = confusion.mistakes();
  const size_t shown_count = std::min(mistakes.size(), kMostMistakes);
  const size_t width = widest_name(dataset, 32);
  fmt::print("{} classes make too wide a matrix; --csv and --plot write it whole.\n",
             confusion.classes());
  fmt::print("{:>7}  {}  taken for\n", "images", padded_name("class", width));
  for (size_t i = 0; i < shown_count; ++i) {
    const auto& [label, answer, count] = mistakes[i];
    const bool answered = answer != Confusion::kUnanswered;
    fmt::print("{:>7}  {}  {}\n", count, padded_name(dataset.classes[label], width),
               answered ? cut(shown(dataset.classes[answer]), width) : "(cannot be read)");
  }
  if (shown_count < mistakes.size()) {
    fmt::print("and {} other kinds of mistakes\n", mistakes.size() - shown_count);
  }
}

void print_confusion(const Confusion& confusion, const Dataset& dataset) {
  const MatrixTable table(confusion, dataset);
  if (!table.fits()) {
    fmt::print("\n");
    return print_mistakes(confusion, dataset);
  }
  fmt::print("\nA line per class, a column per answer:\n");
  print_matrix(confusion, dataset, table);
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

void print_report(const Evaluation& result, const Dataset& dataset, const ReportChoice& choice) {
  const bool five = dataset.class_count() > 5;  // below, top-5 is always 100 %
  fmt::print("top-1 {:.2f} %{}  loss {:.4f}  {} images in {:.1f} s\n", result.top1,
             five ? fmt::format("  top-5 {:.2f} %", result.top5) : "", result.loss, result.images,
             result.seconds);
  if (result.broken > 0) {
    fmt::print("{} of the images cannot be read and count as wrong\n", result.broken);
  }
  if (choice.per_class) print_per_class(result, dataset);
  if (choice.confusion) print_confusion(result.confusion, dataset);
}

Json json_of(const Evaluation& result, const Dataset& dataset, const ReportChoice& choice) {
  Json classes = Json::array();
  for (size_t i = 0; i < result.per_class.size(); ++i) {
    const ClassTally& tally = result.per_class[i];
    classes.push_back({{"class", i},
                       {"name", dataset.classes[i]},
                       {"images", tally.images},
                       {"answers", tally.answers},
                       {"top1", number(tally.recall())},
                       {"precision", number(tally.precision())},
                       {"recall", number(tally.recall())},
                       {"f1", number(tally.f1())}});
  }
  Json json{{"top1", result.top1},     {"top5", result.top5},     {"loss", result.loss},
            {"images", result.images}, {"broken", result.broken}, {"seconds", result.seconds},
            {"per_class", classes}};
  if (!choice.confusion) return json;
  const int64_t count = result.confusion.classes();
  json["confusion"] = Json::array();
  for (int64_t label = 0; label < count; ++label) {
    Json row = Json::array();
    for (int64_t answer = 0; answer < count; ++answer) {
      row.push_back(result.confusion.count(label, answer));
    }
    json["confusion"].push_back(std::move(row));
  }
  return json;
}

MatrixChart chart_of(const Evaluation& result, const Dataset& dataset) {
  MatrixChart chart;
  chart.title = fmt::format("{}: top-1 {:.2f} % of {} images", shown(dataset.name), result.top1,
                            result.images);
  chart.rows = "class";
  chart.columns = "answer";
  for (const std::string& name : dataset.classes) chart.names.push_back(shown(name));
  for (const ClassTally& tally : result.per_class) chart.row_sums.push_back(tally.images);
  for (const auto& [label, answer, count] : result.confusion.cells()) {
    if (answer != Confusion::kUnanswered) chart.cells.push_back({label, answer, count});
  }
  return chart;
}

}  // namespace soft
