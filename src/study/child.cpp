#include "study/child.h"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>

#include "base/error.h"
#include "base/memory.h"

namespace soft {
namespace {

constexpr double kShareOfFree = 0.9;  // leaves the rest of the machine something

// Bytes of this process; the table is in kB.
int64_t own(const std::string& field) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  fail("/proc/self/status has no {}; memory cannot be measured here", field);
}

void limit_memory() {
  const rlim_t free = static_cast<rlim_t>(own("VmData")) +
                      static_cast<rlim_t>(kShareOfFree * static_cast<double>(available_memory()));
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min(limit.rlim_cur, free);  // a tighter one of the user's holds
  setrlimit(RLIMIT_DATA, &limit);
}

std::string answer_of(const std::function<Json()>& work) {
  try {
    limit_memory();
    return Json{{"value", work()}}.dump();
  } catch (const std::bad_alloc&) {
    return Json{{"failure", "out of memory"}}.dump();
  } catch (const std::exception& error) {
    return Json{{"failure", error.what()}}.dump();
  }
}

[[noreturn]] void live_as_child(int answers, const std::function<Json()>& work) {
  const std::string text = answer_of(work);
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = write(answers, text.data() + sent, text.size() - sent);
    if (count <= 0) _exit(1);
    sent += static_cast<size_t>(count);
  }
  _exit(0);  // neither destructors nor buffers of the parent's
}

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

std::string death_of(int status) {
  if (!WIFSIGNALED(status)) return "ended without an answer";
  if (WTERMSIG(status) == SIGKILL) return "killed, most likely for want of memory";
  return std::string("ended by a signal: ") + strsignal(WTERMSIG(status));
}

}  // namespace

ChildResult in_child(const std::function<Json()>& work) {
  int ends[2];
  if (pipe(ends) != 0) fail("no pipe for a measurement: {}", std::strerror(errno));
  std::fflush(nullptr);  // or the child would print it again
  const pid_t child = fork();
  if (child < 0) fail("no process for a measurement: {}", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    live_as_child(ends[1], work);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const Json answer = Json::parse(text, nullptr, false);
  if (answer.is_discarded()) return {{}, death_of(status)};
  if (answer.contains("failure")) return {{}, answer.at("failure")};
  return {answer.at("value"), ""};
}

int64_t peak_growth(const std::function<void()>& work) {
  malloc_trim(0);  // freed memory that the work would take again counts as taken
  std::ofstream mark("/proc/self/clear_refs");
  mark << 5 << std::flush;  // the highest mark starts anew
  if (!mark) fail("the kernel keeps no peak of memory here: cannot write /proc/self/clear_refs");
  const int64_t before = own("VmRSS");
  work();
  return own("VmHWM") - before;
}

}  // namespace soft
