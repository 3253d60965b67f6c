// Locks of open files (F_OFD_SETLK): unlike those of processes they do not vanish when another
// descriptor of the same file is closed. NFS carries them to its server where that has a lock
// service; where it has none, the name in the file is all there is, and this is said.
#include "train/run_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace soft {
namespace {

struct Holder {
  std::string host;
  int64_t pid = 0;
  std::string since;
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

// Nobody, where the file is empty or not ours.
Holder holder_in(const std::string& path) {
  try {
    const Json json = parse_json(read_text(path, 4096), "'" + path + "'");
    return {json.at("host"), json.at("pid"), json.at("since")};
  } catch (const std::exception&) {
    return {};
  }
}

bool may_live(const Holder& holder) {
  if (holder.pid <= 0 || holder.host != host_name() || holder.pid == ::getpid()) return false;
  return ::kill(static_cast<pid_t>(holder.pid), 0) == 0 || errno == EPERM;
}

[[noreturn]] void refuse(const std::string& path, const Holder& holder) {
  fail(
      "a run is writing here already: process {} on '{}', since {} ('{}'). Wait for it, or end it "
      "and resume",
      holder.pid, holder.host, holder.since, path);
}

bool cannot_lock(int code) {
  return code == ENOLCK || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL;
}

}  // namespace

RunLock::RunLock(const std::string& folder, const std::function<void(const std::string&)>& notice)
    : path_(folder + "/run.lock"),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (file_ < 0) fail("cannot open '{}': {}", path_, std::strerror(errno));
  const bool taken = take();
  const int code = errno;
  if (!taken && cannot_lock(code)) {
    kernel_ = false;
    notice(
        fmt::format("the file system of '{}' knows no locks ({}): a second run in this folder "
                    "from another machine would not be noticed",
                    folder, std::strerror(code)));
  }
  const Holder holder = holder_in(path_);
  if (kernel_ ? !taken : may_live(holder)) {
    ::close(file_);
    refuse(path_, holder);
  }
  sign();
}

RunLock::~RunLock() { ::close(file_); }

bool RunLock::take() const {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file_, F_OFD_SETLK, &whole) == 0;
}

void RunLock::sign() const {
  const Json json{{"host", host_name()}, {"pid", ::getpid()}, {"since", clock_time()}};
  const std::string text = json.dump() + "\n";
  const bool written = ::ftruncate(file_, 0) == 0 && ::pwrite(file_, text.data(), text.size(), 0) ==
                                                         static_cast<ssize_t>(text.size());
  if (!written) fail("cannot write '{}': {}", path_, std::strerror(errno));
}

void RunLock::check() const {
  struct stat ours {
  }, there{};
  const bool same = ::fstat(file_, &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
                    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
  const Holder holder = same ? holder_in(path_) : Holder{};
  const bool signed_by_us = holder.pid == ::getpid() && holder.host == host_name();
  if (same && signed_by_us && (!kernel_ || take())) return;
  fail("'{}' is no longer this run's: {}. It stops here and writes nothing more", path_,
       !same ? "the file was replaced or removed"
             : fmt::format("process {} on '{}' has it since {}", holder.pid, holder.host,
                           holder.since));
}

}  // namespace soft
