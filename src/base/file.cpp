#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace soft {
namespace {

// The kernel maps whole pages. The rest of the last one lies outside the file: AddressSanitizer,
// where it is on, is told to report a read there.
struct PageRest {
  const uint8_t* begin;
  size_t size;

  PageRest(const uint8_t* data, size_t bytes) : begin(data + bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    size = (page - bytes % page) % page;
  }
};

void forbid(const PageRest& rest) { ASAN_POISON_MEMORY_REGION(rest.begin, rest.size); }
void allow(const PageRest& rest) { ASAN_UNPOISON_MEMORY_REGION(rest.begin, rest.size); }

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file =
      open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe is refused below, not waited for
  if (!file.ok()) fail("cannot open '{}': {}", path, std::strerror(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("cannot stat '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("'{}' is not a regular file", path);
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return;  // an empty map is an error for mmap, an empty file is not one for us
  void* map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (map == MAP_FAILED) fail("cannot map '{}': {}", path, std::strerror(errno));
  data_ = static_cast<const uint8_t*>(map);
  forbid({data_, size_});
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  allow({data_, size_});
  ::munmap(const_cast<uint8_t*>(data_), size_);
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) ::madvise(const_cast<uint8_t*>(data_), size_, MADV_DONTNEED);
}

std::string read_text(const std::string& path, size_t limit) {
  const MappedFile file(path);
  if (file.size() > limit) {
    fail("'{}' is {} bytes; at most {} are read", path, file.size(), limit);
  }
  return std::string(reinterpret_cast<const char*>(file.data()), file.size());
}

void make_folder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) fail("cannot make the folder '{}': {}", path, code.message());
}

std::string program_folder() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? "." : program.parent_path().string();
}

}  // namespace soft
