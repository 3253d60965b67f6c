#include "study/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace soft {
namespace {

using Line = std::vector<std::string>;

Line keys_of(const Json& row) {
  Line keys;
  for (const auto& item : row.items()) keys.push_back(item.key());
  return keys;
}

// Numbers for people: four digits that count.
std::string for_people(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "-";
  if (!value.is_number_float()) return value.dump();
  const double number = value.get<double>();
  const double size = std::abs(number);
  if (size > 0 && size < 1e-3) return fmt::format("{:.2e}", number);
  return fmt::format("{:.{}f}", number, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string for_csv(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Lines of the same columns, each as wide as its longest cell.
std::string aligned(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string table_of(const Json& rows) {
  std::string text;
  std::vector<Line> lines;
  for (const Json& row : rows) {
    const Line keys = keys_of(row);
    if (!lines.empty() && keys != lines.front()) {
      text += aligned(lines) + '\n';
      lines.clear();
    }
    if (lines.empty()) lines.push_back(keys);
    Line cells;
    for (const Json& value : row) cells.push_back(for_people(value));
    lines.push_back(cells);
  }
  return lines.empty() ? text : text + aligned(lines);
}

std::string csv_of(const Json& rows) {
  Line keys;
  for (const Json& row : rows) {
    for (const std::string& key : keys_of(row)) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::string text = fmt::format("{}\n", fmt::join(keys, ","));
  for (const Json& row : rows) {
    Line cells;
    for (const std::string& key : keys) {
      cells.push_back(row.contains(key) ? for_csv(row.at(key)) : "");
    }
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace soft
