// A tar archive, plain or gzip-compressed, one member after the other.
#pragma once

#include <cstdint>
#include <string>

#include "data/gzip.h"

namespace soft {

class TarStream {
 public:
  explicit TarStream(const std::string& path) : file_(path) {}

  bool next();  // to the next regular file; false at the end
  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  std::string place() const { return file_.path() + ": " + name_; }

  std::string start(uint64_t most);  // the member's first bytes; at most once a member

 private:
  bool header(uint8_t (&block)[512]);
  void skip(uint64_t bytes);
  std::string long_name(uint64_t bytes);

  GzipReader file_;
  std::string name_;
  uint64_t size_ = 0;
  uint64_t left_ = 0;  // of the member and its padding
};

}  // namespace soft
