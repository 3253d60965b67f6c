#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace soft {
namespace {

constexpr const char* kTemporary = ".soft-tmp";

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Flushes a file (or a folder's entry list) to the disk itself.
void sync_path(const std::string& path, int flags) {
  const Descriptor file(path, flags);
  if (!file.ok() || ::fsync(file.get()) != 0) {
    fail("cannot sync '{}' to disk: {}", path, std::strerror(errno));
  }
}

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

std::string folder_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The file that a link leads to: this is replaced, not the link.
std::string followed(const std::string& path) {
  std::error_code nowhere;
  const auto target = std::filesystem::canonical(path, nowhere);
  return nowhere || !std::filesystem::is_symlink(path) ? path : target.string();
}

// Devices and pipes are written to; they cannot be replaced.
bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && std::filesystem::is_other(status);
}

// A temporary file beside its path; removed again unless it is published.
class Draft {
 public:
  explicit Draft(const std::string& path)
      : path_(followed(path)),
        temporary_(is_stream(path) ? "" : path_ + kTemporary + std::to_string(::getpid())) {}
  Draft(Draft&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (!temporary_.empty()) std::remove(temporary_.c_str());
  }

  void fill(const std::function<void(std::ostream&)>& write) const {
    std::error_code unknown;  // what else is wrong with the path shows when it is opened
    if (std::filesystem::is_directory(path_, unknown)) {
      fail("cannot write '{}': it is a folder", path_);
    }
    std::ofstream out(temporary_.empty() ? path_ : temporary_, std::ios::binary | std::ios::trunc);
    if (!out) fail("cannot write '{}': {}", path_, std::strerror(errno));
    write(out);
    out.close();
    if (!out) fail("cannot write '{}': {} (is the disk full?)", path_, std::strerror(errno));
    if (!temporary_.empty()) sync_path(temporary_, O_RDONLY);
  }

  void publish() {
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      fail("cannot rename '{}' to '{}': {}", temporary_, path_, std::strerror(errno));
    }
    temporary_.clear();
    sync_path(folder_of(path_), O_RDONLY | O_DIRECTORY);
  }

 private:
  std::string path_;
  std::string temporary_;  // "": there is none, the bytes go straight to a device or pipe
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a pipe is refused below, not waited for
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

void write_atomically(const std::vector<FileWriter>& files) {
  std::vector<Draft> drafts;
  for (const FileWriter& file : files) {
    drafts.emplace_back(file.path);
    drafts.back().fill(file.write);
  }
  for (Draft& draft : drafts) draft.publish();
}

void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  write_atomically({{path, write}});
}

void make_folder(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) fail("cannot make the folder '{}': {}", path, code.message());
}

void remove_leftovers(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().find(kTemporary) == std::string::npos) continue;
    std::filesystem::remove(entry.path(), ignored);
  }
}

std::string program_folder() {
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? "." : program.parent_path().string();
}

}  // namespace soft
