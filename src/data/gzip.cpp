#include "data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/memory.h"

namespace soft {
namespace {

// Small files need no more than themselves.
unsigned buffer_for(const std::string& path) {
  constexpr uintmax_t kLeast = 1 << 12, kMost = 1 << 18;
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  return static_cast<unsigned>(unknown ? kMost : std::clamp(size, kLeast, kMost));
}

}  // namespace

GzipReader::GzipReader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
  if (file_ == nullptr) fail("cannot open '{}': {}", path, std::strerror(errno));
  gzbuffer(file_, buffer_for(path));
}

GzipReader::~GzipReader() { gzclose(file_); }

size_t GzipReader::read_some(uint8_t* out, size_t size) {
  const int got = gzread(file_, out, static_cast<unsigned>(std::min<size_t>(size, 1 << 30)));
  if (got < 0) fail("'{}' cannot be read: the compressed data are damaged", path_);
  return static_cast<size_t>(got);
}

// No more than the whole file, or what deflate can make of it at best.
uint64_t GzipReader::largest_content() const {
  constexpr uint64_t kBestRatio = 1032;
  std::error_code unknown;
  const uint64_t size = std::filesystem::file_size(path_, unknown);
  if (unknown || size > UINT64_MAX / kBestRatio) return UINT64_MAX;
  return gzdirect(file_) == 1 ? size : kBestRatio * size;
}

void GzipReader::check_memory(uint64_t count) const {
  const auto available = static_cast<uint64_t>(available_memory());
  if (count <= available) return;
  fail("'{}' unpacks to {}; {} of memory are available", path_, bytes_text(double(count)),
       bytes_text(double(available)));
}

// What an honest file announces is taken at once; a lying one is refused before it takes memory.
std::vector<uint8_t> GzipReader::read(uint64_t count) {
  if (count > largest_content()) {
    fail("'{}' is truncated: it announces {} bytes and cannot hold more than {}", path_, count,
         largest_content());
  }
  constexpr size_t kStep = 1 << 24;  // touched as it is filled
  if (count > kStep) check_memory(count);
  std::vector<uint8_t> bytes;
  bytes.reserve(count);
  while (bytes.size() < count) {
    const size_t have = bytes.size();
    const size_t step = std::min<uint64_t>(count - have, kStep);
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
