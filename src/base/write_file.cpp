// Files that appear whole or not at all. Bytes are written under a random name in the folder of
// their path, created anew there (nobody can have put a link in its place), and renamed.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/descriptor_stream.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = ".soft-tmp-";
constexpr const char* kMovedAway = ".soft-old-";  // the only copy of what it holds: never removed

// The file that a link leads to: this is replaced, not the link.
std::string followed(const std::string& path) {
  std::error_code nowhere, no_link;
  const auto target = fs::canonical(path, nowhere);
  return nowhere || !fs::is_symlink(path, no_link) ? path : target.string();
}

// Devices and pipes are written to; they cannot be replaced.
bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && fs::is_other(status);
}

std::string random_name(const char* prefix) {
  uint64_t bits[2];
  if (::getrandom(bits, sizeof bits, 0) != sizeof bits) {
    fail("the system gives no random numbers: {}", std::strerror(errno));
  }
  return fmt::format("{}{:016x}{:016x}", prefix, bits[0], bits[1]);
}

// Tries names until `make` does not find its own taken; "" (and errno) when it fails otherwise.
template <class Make>
std::string make_under_new_name(const char* prefix, const Make& make) {
  for (;;) {
    const std::string name = random_name(prefix);
    if (make(name.c_str())) return name;
    if (errno != EEXIST) return "";
  }
}

// One path's new content: first nowhere, then under a temporary name, then published, and from
// there either settled or taken back.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(followed(path)), stream_(is_stream(path)) {}
  Draft(Draft&&) noexcept = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (folder_.ok() && !temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
  }

  void fill(const std::function<void(std::ostream&)>& write) {
    Descriptor file = stream_ ? open_file(path_, O_WRONLY | O_NOCTTY) : create();
    if (!file.ok()) refuse(errno);
    DescriptorBuffer buffer(file.get());
    std::ostream out(&buffer);
    write(out);
    out.flush();
    if (buffer.error() != 0) refuse(buffer.error());
    if (!out) fail("cannot write '{}': its content could not be made", path_);
    if (!stream_ && ::fsync(file.get()) != 0) refuse(errno);
    if (!file.close()) refuse(errno);
  }

  // Renames into place. With `keep` the old content stays at hand, for take_back.
  void publish(bool keep) {
    if (stream_) return;
    if (keep) keep_old();
    published_ = rename(temporary_, name_);
    if (!published_) refuse(errno);
    temporary_.clear();
  }

  // Everything as it was before `publish`, also where that failed.
  void take_back() noexcept {
    if (published_ && old_.empty()) ::unlinkat(folder_.get(), name_.c_str(), 0);
    if (old_.empty()) return;
    if (rename(old_, name_)) {
      forget_old();  // rename leaves both names where they are one file already
    } else {
      log("the old content of '{}' could not be put back ({}); it is in '{}' beside it", path_,
          std::strerror(errno), old_);
    }
  }

  void forget_old() noexcept {
    if (!old_.empty()) ::unlinkat(folder_.get(), old_.c_str(), 0);
  }

  void sync_folder() const {
    if (stream_ || ::fsync(folder_.get()) == 0 || errno == EINVAL) return;  // not every system can
    fail("'{}' is written, but its folder cannot be synced to disk: {}", path_,
         std::strerror(errno));
  }

 private:
  [[noreturn]] void refuse(int code) const {
    const char* hint = code == ENOSPC || code == EDQUOT ? " (make room and try again)" : "";
    fail("cannot write '{}': {}{}", path_, std::strerror(code), hint);
  }

  bool rename(const std::string& from, const std::string& to) const noexcept {
    return ::renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) == 0;
  }

  // What is at the path now: false when nothing is. Folders and impossible names are refused.
  bool is_taken() const {
    struct stat info {};
    if (::fstatat(folder_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return false;
      refuse(errno);
    }
    if (S_ISDIR(info.st_mode)) fail("cannot write '{}': it is a folder", path_);
    return true;
  }

  // An empty file under a name nobody could guess; its permissions are the umask's.
  Descriptor create() {
    const fs::path path(path_);
    name_ = path.filename().string();
    if (std::error_code ignored; name_.empty() || fs::is_directory(path, ignored)) {
      fail("cannot write '{}': it is a folder", path_);
    }
    folder_ = open_file(path.has_parent_path() ? path.parent_path().string() : ".",
                        O_RDONLY | O_DIRECTORY);
    if (!folder_.ok()) refuse(errno);
    is_taken();
    Descriptor file;
    temporary_ = make_under_new_name(kTemporary, [&](const char* name) {
      constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      file = Descriptor(::openat(folder_.get(), name, kNew, 0666));
      return file.ok();
    });
    return file;
  }

  // A second name for the old content. Where the file system has no such links it is moved away,
  // and for a moment there is nothing at the path.
  void keep_old() {
    if (!is_taken()) return;
    const int folder = folder_.get();
    old_ = make_under_new_name(kTemporary, [&](const char* name) {
      return ::linkat(folder, name_.c_str(), folder, name, 0) == 0;
    });
    if (!old_.empty()) return;
    old_ = make_under_new_name(kMovedAway, [&](const char* name) { return rename(name_, name); });
    if (old_.empty()) refuse(errno);
  }

  std::string path_;
  bool stream_;
  Descriptor folder_;
  std::string name_;       // in the folder
  std::string temporary_;  // the new content, until it is published
  std::string old_;        // the old one, while it may be needed
  bool published_ = false;
};

void publish(std::vector<Draft>& drafts) {
  try {
    for (Draft& draft : drafts) draft.publish(drafts.size() > 1);
  } catch (...) {
    for (auto draft = drafts.rbegin(); draft != drafts.rend(); ++draft) draft->take_back();
    throw;
  }
  for (Draft& draft : drafts) draft.forget_old();
  for (const Draft& draft : drafts) draft.sync_folder();
}

}  // namespace

void write_atomically(const std::vector<FileWriter>& files) {
  std::vector<Draft> drafts;
  for (const FileWriter& file : files) {
    drafts.emplace_back(file.path);
    drafts.back().fill(file.write);
  }
  publish(drafts);
}

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  write_atomically({{path, write}});
}

void remove_leftovers(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().rfind(kTemporary, 0) != 0) continue;
    fs::remove(entry.path(), ignored);
  }
}

}  // namespace soft
