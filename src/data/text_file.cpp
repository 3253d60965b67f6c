#include "data/text_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "data/utf8.h"

namespace soft {

TextFile::TextFile(const std::string& path) : path_(path), file_(open_file(path, O_RDONLY)) {
  if (!file_.ok()) fail("cannot open '{}': {}", path, std::strerror(errno));
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    fail("'{}' is no regular file", path);
  }
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (read({0, size}, 2) == "\x1f\x8b") {
    fail("'{0}' is compressed; unpack it first: `gzip -d {0}`", path);
  }
}

std::string TextFile::read(const TextPlace& place, uint64_t most) const {
  std::string text(std::min(place.size, most), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = pread(file_.get(), text.data() + have, text.size() - have,
                              static_cast<off_t>(place.offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
    if (got == 0) fail("'{}' has become shorter while it was in use", path_);
    have += static_cast<size_t>(got);
  }
  return text;
}

std::string read_text_start(const std::string& path, uint64_t most) {
  const TextFile file(path);
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) fail("cannot read '{}': {}", path, std::strerror(errno));
  const auto size = static_cast<uint64_t>(facts.st_size);
  std::string text = file.read({0, size}, most);
  if (text.empty()) fail("'{}' is empty", path);
  Utf8Check utf8;
  const bool good = utf8.take(text.data(), text.size());
  if (!good || (size <= most && !utf8.whole())) fail("'{}' is not UTF-8", path);
  return text;
}

}  // namespace soft
