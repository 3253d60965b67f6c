#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/log.h"
#include "base/open_line.h"
#include "base/printable.h"
#include "cli/terminal.h"

namespace soft {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::seconds kElsewhere{15};
constexpr const char *kDone = "\033[32m", *kRest = "\033[2m", *kPlain = "\033[0m";

std::string repeated(const char* glyph, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += glyph;
  return text;
}

}  // namespace

double share_of(int64_t done, int64_t all) {
  return all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1;
}

std::string bar_text(double share, const BarStyle& style) {
  const auto length = static_cast<double>(style.columns);
  const auto done = static_cast<size_t>(std::floor(std::clamp(share, 0.0, 1.0) * length));
  const std::string full = repeated(style.unicode ? "\u2501" : "#", done);
  const std::string rest = repeated(style.unicode ? "\u2500" : ".", style.columns - done);
  return style.colour ? kDone + full + kPlain + kRest + rest + kPlain : full + rest;
}

// Short work says nothing into a file; a terminal sees the first step at once.
ProgressLine::ProgressLine()
    : terminal_(is_terminal(STDERR_FILENO)),
      colour_(takes_colour(STDERR_FILENO)),
      unicode_(takes_unicode()),
      last_(terminal_ ? Clock::time_point() : Clock::now()) {}

void ProgressLine::show(const std::string& text, double share) {
  const auto now = Clock::now();
  const Clock::duration wait =
      terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere);
  if (now - last_ < wait) return;
  last_ = now;
  if (!terminal_) return log_line(text);
  // The last column stays free: some terminals move on when it is written to.
  const size_t room = std::max<size_t>(terminal_columns(STDERR_FILENO), 2) - 1;
  const size_t wanted = columns_of(text) + 1;
  constexpr size_t kShortest = 8, kLongest = 24;
  std::string line = kEraseLine;
  if (share >= 0 && wanted + kShortest <= room) {
    line += bar_text(share, {colour_, unicode_, std::min(kLongest, room - wanted)}) + " ";
  }
  line += cut(shown(text), room);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  open_line() = true;
}

void ProgressLine::clear() {
  if (terminal_ && open_line().exchange(false)) std::fputs(kEraseLine, stderr);
}

}  // namespace soft
