// What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput: it feeds bytes
// from nowhere to one reader, which must either make sense of them or throw one soft::Error of one
// line. Anything else (another exception, a crash, a sanitizer's complaint, a broken promise) is a
// finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace soft::fuzz {

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// Runs `action`; an Error is fine when it is one line that can be printed.
template <class Action>
void attempt(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    require(!text.empty() && text.find('\n') == std::string::npos, "an error is one line");
  }
}

// A file in memory for readers that take a path.
std::string path_of(const uint8_t* data, size_t size);

// A folder of such files under names of their own, for readers that take a folder. Links on disk,
// content in memory.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::vector<std::string>& names);
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::string& path() const { return path_; }
  void put(size_t file, const uint8_t* data, size_t size) const;

 private:
  std::string path_;
  std::vector<int> files_;
};

}  // namespace soft::fuzz
