// Pieces of many large files, read from any thread. The system is told to fetch what lies around a
// piece, since it will be asked for soon; its page cache is the buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace soft {

class ShardFiles {
 public:
  explicit ShardFiles(std::vector<std::string> paths);

  const std::string& path(size_t file) const { return paths_[file]; }

  // An Error when the file has become shorter.
  std::vector<uint8_t> read(size_t file, int64_t offset, int64_t size);

 private:
  struct File {
    File(Descriptor opened, int64_t size);
    void fetch_around(int64_t offset, int64_t size);

    const Descriptor descriptor;
    std::vector<std::atomic<int32_t>> fetched;  // when each stretch was last asked for, in seconds
  };
  std::shared_ptr<File> open(size_t file);

  const std::vector<std::string> paths_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<File>> open_;  // null while it is closed
  std::deque<size_t> opened_;                // which are open, the oldest first
};

}  // namespace soft
