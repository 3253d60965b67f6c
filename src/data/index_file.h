// What a look at many folders or large files has shown, kept in a file so that the next start need
// not look again. An entry is believed while everything that it was read from is the same file of
// the same size and time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace soft {

constexpr const char* kIndexName = ".soft-index";

class IndexFile {
 public:
  // Of the data in `root`: in root/.soft-index, or where that cannot be written in `spare`, a
  // folder of the caller's ("": nowhere). A damaged index is an empty one.
  IndexFile(std::string root, std::string spare);
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  // What was put under this name; nullptr when nothing was or its sources have changed since.
  const std::string_view* find(const std::string& name) const;

  // `sources` are paths inside the root; `seen` is when the look at them began (`now`): what
  // changed shortly before, or later, cannot be told from the times and is looked at anew.
  void put(const std::string& name, const std::vector<std::string>& sources, int64_t seen,
           std::string content);

  // Writes what still holds, if anything was put. Where it cannot be kept, starts stay slow: no
  // error.
  void save();

  static int64_t now();                           // nanoseconds of the system's clock
  static constexpr int64_t kSettled = INT64_MAX;  // `seen` by those who wrote the sources

 private:
  struct Source {
    std::string path;
    uint64_t file = 0;    // its number in the file system
    int64_t changed = 0;  // nanoseconds
    int64_t size = 0;
  };
  struct Entry {
    int64_t seen = 0;
    std::vector<Source> sources;
    std::string_view content;  // in one of the blocks
  };

  static std::string packed(const std::string& name, const Entry& entry);
  bool look(Source& source) const;
  bool holds(const Entry& entry) const;
  void read(const std::string& path);
  bool write(const std::string& path) const;

  std::string root_;
  std::vector<std::string> paths_;  // where it may be, the best first
  std::deque<std::string> blocks_;  // whole files, as they were read, and what was put
  std::map<std::string, Entry> entries_;
  bool changed_ = false;
};

}  // namespace soft
