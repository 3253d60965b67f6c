// One line of progress on stderr: rewritten in place on a terminal, now and then a plain line
// elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace soft {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);  // cheap to call often
  void clear();                        // before anything else is printed

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool visible_ = false;
  Clock::time_point last_;
};

}  // namespace soft
