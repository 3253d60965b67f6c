#include "data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace soft {

GzipReader::GzipReader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
  if (file_ == nullptr) fail("cannot open '{}': {}", path, std::strerror(errno));
  gzbuffer(file_, 1 << 18);
}

GzipReader::~GzipReader() { gzclose(file_); }

size_t GzipReader::read_some(uint8_t* out, size_t size) {
  const int got = gzread(file_, out, static_cast<unsigned>(std::min<size_t>(size, 1 << 30)));
  if (got < 0) fail("'{}' cannot be read: the compressed data are damaged", path_);
  return static_cast<size_t>(got);
}

// Grows with what is really there, so that a lying header cannot take all memory.
std::vector<uint8_t> GzipReader::read(uint64_t count) {
  constexpr size_t kLeast = 1 << 20;
  constexpr size_t kMost = 1 << 26;
  std::vector<uint8_t> bytes;
  while (bytes.size() < count) {
    const size_t have = bytes.size();
    const size_t step = std::min<uint64_t>(count - have, std::clamp(have, kLeast, kMost));
    bytes.resize(have + step);
    const size_t got = read_some(bytes.data() + have, step);
    if (got < step) fail("'{}' is truncated: {} of {} bytes are there", path_, have + got, count);
  }
  return bytes;
}

void GzipReader::expect_end() {
  uint8_t extra = 0;
  if (read_some(&extra, 1) != 0) fail("'{}' goes on after its last item", path_);
}

}  // namespace soft
