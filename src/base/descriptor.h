// A file descriptor with an owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace soft {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  bool close() { return !ok() || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

inline Descriptor open_file(const std::string& path, int flags) {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC));
}

}  // namespace soft
