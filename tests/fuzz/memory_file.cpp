#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "fuzz/fuzz.h"

namespace soft::fuzz {
namespace {

namespace fs = std::filesystem;

int new_memory_file() {
  const int file = memfd_create("input", MFD_CLOEXEC);
  require(file >= 0, "memory can hold a file");
  return file;
}

void replace(int file, const uint8_t* data, size_t size) {
  const bool written =
      ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
  require(written, "the input fits into memory");
}

std::string path_of_descriptor(int file) { return "/proc/self/fd/" + std::to_string(file); }

}  // namespace

// One descriptor for the whole run: its content is replaced by each input.
std::string path_of(const uint8_t* data, size_t size) {
  static const int file = new_memory_file();
  replace(file, data, size);
  return path_of_descriptor(file);
}

MemoryFolder::MemoryFolder(const std::vector<std::string>& names) {
  std::string pattern = (fs::temp_directory_path() / "soft-fuzz-").string() + std::string(6, 'X');
  require(mkdtemp(pattern.data()) != nullptr, "there is room for a folder");
  path_ = pattern;
  for (const std::string& name : names) {
    files_.push_back(new_memory_file());
    fs::create_symlink(path_of_descriptor(files_.back()), fs::path(path_) / name);
  }
}

MemoryFolder::~MemoryFolder() {
  for (const int file : files_) close(file);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void MemoryFolder::put(size_t file, const uint8_t* data, size_t size) const {
  replace(files_.at(file), data, size);
}

}  // namespace soft::fuzz
