#include "study/accuracy.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace soft {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

double per_cent(const std::string& text, const std::string& path, int line) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value <= 100)) {
    fail("'{}' line {}: '{}' is no top-1 in per cent", path, line, text);
  }
  return value;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace

Accuracies read_accuracies(const std::string& folder) {
  const std::string path = folder + "/cells.csv";
  std::ifstream in(path);
  if (!in) fail("no '{}'; `scripts/accuracy {}` makes it", path, folder);
  Accuracies accuracies;
  std::map<std::string, std::string> lengths;  // pictures that a cell's runs were trained on
  std::string line;
  std::getline(in, line);  // names of the columns
  for (int number = 2; std::getline(in, line); ++number) {
    const std::vector<std::string> parts = split(line);
    if (parts.size() < 4) fail("'{}' line {}: too short: '{}'", path, number, line);
    const std::string& images = lengths.emplace(parts[0], parts[2]).first->second;
    if (images != parts[2]) {
      fail("'{}' line {}: {} after {} pictures, and after {} above; keep one length in a folder",
           path, number, parts[0], parts[2], images);
    }
    accuracies[parts[0]].push_back(per_cent(parts[3], path, number));
  }
  return accuracies;
}

Json accuracy_columns(const Accuracies& accuracies, const std::string& cell) {
  const auto found = accuracies.find(cell);
  const size_t seeds = found == accuracies.end() ? 0 : found->second.size();
  if (seeds < kSeedsForAMean)
    return {{"top1", nullptr}, {"top1_spread", nullptr}, {"seeds", seeds}};
  return {{"top1", mean_of(found->second)},
          {"top1_spread", deviation_of(found->second)},
          {"seeds", seeds}};
}

}  // namespace soft
