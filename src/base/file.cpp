// Reading, as opposed to mapping: a file that another process shortens meanwhile is an error, where
// a map of it would be a signal.
#include "base/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"

namespace soft {
namespace {

size_t regular_size(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("cannot stat '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("'{}' is not a regular file", path);
  return static_cast<size_t>(info.st_size);
}

}  // namespace

std::vector<uint8_t> read_bytes(const std::string& path, size_t limit) {
  const Descriptor file =
      open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe is refused below, not waited for
  if (!file.ok()) fail("cannot open '{}': {}", path, std::strerror(errno));
  const size_t size = regular_size(file, path);
  if (size > limit) fail("'{}' is {} bytes; at most {} are read", path, size, limit);
  std::vector<uint8_t> bytes(size);
  for (size_t have = 0; have < size;) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read '{}': {}", path, std::strerror(errno));
    if (got == 0) fail("'{}' became shorter while it was read: {} of {} bytes", path, have, size);
    have += static_cast<size_t>(got);
  }
  return bytes;
}

std::string read_text(const std::string& path, size_t limit) {
  const std::vector<uint8_t> bytes = read_bytes(path, limit);
  return {bytes.begin(), bytes.end()};
}

void make_folder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) fail("cannot make the folder '{}': {}", path, code.message());
}

std::string library_folder() {
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<const void*>(&library_folder), &info) != 0;
  if (!known || info.dli_fname == nullptr) return ".";
  std::error_code unknown;  // linked into a program, it has that program's name, as it was called
  const auto library = std::filesystem::canonical(info.dli_fname, unknown);
  return unknown ? "." : library.parent_path().string();
}

}  // namespace soft
