#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "base/log.h"

namespace soft {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::seconds kElsewhere{15};

}  // namespace

// Short work says nothing into a file; a terminal sees the first step at once.
ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1),
      last_(terminal_ ? Clock::time_point() : Clock::now()) {}

void ProgressLine::show(const std::string& text) {
  const auto now = Clock::now();
  const Clock::duration wait =
      terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere);
  if (now - last_ < wait) return;
  last_ = now;
  if (!terminal_) return log_line(text);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());  // back to the margin, erase, write
  std::fflush(stderr);
  visible_ = true;
}

void ProgressLine::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

}  // namespace soft
