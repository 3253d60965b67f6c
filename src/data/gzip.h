// Reads a file byte by byte, whether it is gzip-compressed or plain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct gzFile_s;

namespace soft {

class GzipReader {
 public:
  explicit GzipReader(const std::string& path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  const std::string& path() const { return path_; }

  size_t read_some(uint8_t* out, size_t size);  // fewer than asked for only at the end
  std::vector<uint8_t> read(uint64_t count);    // exactly; a shorter file is an Error
  void expect_end();

 private:
  uint64_t largest_content() const;
  void check_memory(uint64_t count) const;  // an Error when so many bytes are not left

  std::string path_;
  gzFile_s* file_;
};

}  // namespace soft
