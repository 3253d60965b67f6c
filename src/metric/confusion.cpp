#include "metric/confusion.h"

#include <algorithm>
#include <ostream>

#include "base/file.h"
#include "metric/csv.h"

namespace soft {

int64_t Confusion::count(int64_t label, int64_t answer) const {
  const auto found = counts_.find({label, answer});
  return found == counts_.end() ? 0 : found->second;
}

bool Confusion::has_unanswered() const {
  return std::any_of(counts_.begin(), counts_.end(),
                     [](const auto& entry) { return entry.first.second == kUnanswered; });
}

std::vector<Confusion::Cell> Confusion::cells() const {
  std::vector<Cell> cells;
  for (const auto& [pair, count] : counts_) cells.push_back({pair.first, pair.second, count});
  return cells;
}

std::vector<Confusion::Cell> Confusion::mistakes() const {
  std::vector<Cell> wrong = cells();
  wrong.erase(std::remove_if(wrong.begin(), wrong.end(),
                             [](const Cell& cell) { return cell.label == cell.answer; }),
              wrong.end());
  std::stable_sort(wrong.begin(), wrong.end(),
                   [](const Cell& a, const Cell& b) { return a.count > b.count; });
  return wrong;
}

void write_confusion(const std::string& path, const std::vector<std::string>& names,
                     const Confusion& confusion) {
  const bool unanswered = confusion.has_unanswered();
  write_atomically(path, [&](std::ostream& out) {
    out << "class";
    for (const std::string& name : names) out << ',' << csv_field(name);
    out << (unanswered ? ",(unreadable)\n" : "\n");
    for (int64_t label = 0; label < confusion.classes(); ++label) {
      out << csv_field(names[label]);
      for (int64_t answer = 0; answer < confusion.classes(); ++answer) {
        out << ',' << confusion.count(label, answer);
      }
      if (unanswered) out << ',' << confusion.count(label, Confusion::kUnanswered);
      out << '\n';
    }
  });
}

}  // namespace soft
