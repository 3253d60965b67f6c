// One line of progress on stderr: a bar, rewritten in place, on a terminal; now and then a plain
// line elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace soft {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap to call often. `share` of the work is done, from 0 to 1; where nobody knows how much
  // there is, kNoBar.
  static constexpr double kNoBar = -1;
  void show(const std::string& text, double share = kNoBar);
  void clear();  // before anything else is printed

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, colour_, unicode_;
  Clock::time_point last_;
};

double share_of(int64_t done, int64_t all);

// The bar of a given number of columns, and what it looks like there.
struct BarStyle {
  bool colour = false, unicode = false;
  size_t columns = 24;
};
std::string bar_text(double share, const BarStyle& style);

}  // namespace soft
