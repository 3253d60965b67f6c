#include "data/shard_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace soft {
namespace {

constexpr size_t kMostOpen = 256;        // of the 1,024 that a process usually may have
constexpr int64_t kStretch = 1 << 20;    // bytes
constexpr int64_t kPerCall = 256 << 10;  // the kernel cuts larger requests short
constexpr int32_t kForgetful = 10;       // seconds after which a stretch may be gone again

int32_t seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<int32_t>(std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

int64_t size_of(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("cannot stat '{}': {}", path, std::strerror(errno));
  return info.st_size;
}

}  // namespace

ShardFiles::File::File(Descriptor opened, int64_t size)
    : descriptor(std::move(opened)), fetched(static_cast<size_t>(size / kStretch + 1)) {
  for (auto& time : fetched) time = -kForgetful - 1;
}

// The stretches that a piece touches, and the next one, unless that was done a moment ago.
void ShardFiles::File::fetch_around(int64_t offset, int64_t size) {
  const int32_t now = seconds_now();
  const int64_t last =
      std::min((offset + size) / kStretch + 1, static_cast<int64_t>(fetched.size()) - 1);
  for (int64_t stretch = offset / kStretch; stretch <= last; ++stretch) {
    if (now - fetched[stretch].load(std::memory_order_relaxed) <= kForgetful) continue;
    fetched[stretch].store(now, std::memory_order_relaxed);
    for (int64_t done = 0; done < kStretch; done += kPerCall) {  // only hints
      ::posix_fadvise(descriptor.get(), stretch * kStretch + done, kPerCall, POSIX_FADV_WILLNEED);
    }
  }
}

ShardFiles::ShardFiles(std::vector<std::string> paths)
    : paths_(std::move(paths)), open_(paths_.size()) {}

std::shared_ptr<ShardFiles::File> ShardFiles::open(size_t file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_[file]) return open_[file];
  Descriptor opened = open_file(paths_[file], O_RDONLY);
  if (!opened.ok()) fail("cannot open '{}': {}", paths_[file], std::strerror(errno));
  if (opened_.size() == kMostOpen) {
    open_[opened_.front()].reset();  // closed when its last reader is done
    opened_.pop_front();
  }
  opened_.push_back(file);
  const int64_t size = size_of(opened, paths_[file]);
  return open_[file] = std::make_shared<File>(std::move(opened), size);
}

std::vector<uint8_t> ShardFiles::read(size_t file, int64_t offset, int64_t size) {
  const std::shared_ptr<File> opened = open(file);
  opened->fetch_around(offset, size);
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  for (size_t have = 0; have < bytes.size();) {
    const ssize_t got = ::pread(opened->descriptor.get(), bytes.data() + have, bytes.size() - have,
                                offset + static_cast<int64_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '{}': {}", paths_[file], std::strerror(errno));
    if (got == 0) {
      fail("'{}' became shorter: {} of {} bytes at {}", paths_[file], have, size, offset);
    }
    have += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace soft
