// An output stream on a descriptor: the standard library opens files by name only, and a name can
// lead elsewhere by the time it is opened.
#pragma once

#include <array>
#include <cerrno>
#include <ostream>
#include <streambuf>

#include "base/descriptor.h"

namespace soft {

class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) {
    setp(bytes_.data(), bytes_.data() + bytes_.size());
  }

  int error() const { return error_; }  // errno of the first write that failed, else 0

 protected:
  int_type overflow(int_type byte) override {
    if (sync() != 0) return traits_type::eof();
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    *pptr() = traits_type::to_char_type(byte);
    pbump(1);
    return byte;
  }

  std::streamsize xsputn(const char* data, std::streamsize count) override {
    if (count < epptr() - pptr()) return std::streambuf::xsputn(data, count);
    return sync() == 0 && put(data, count) ? count : 0;  // large pieces go past the buffer
  }

  int sync() override {
    const bool written = put(pbase(), pptr() - pbase());
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return written ? 0 : -1;
  }

 private:
  bool put(const char* data, std::streamsize count) {
    while (error_ == 0 && count > 0) {
      const ssize_t written = ::write(fd_, data, static_cast<size_t>(count));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) error_ = errno;
      if (written > 0) data += written, count -= written;
    }
    return error_ == 0;
  }

  int fd_;
  int error_ = 0;
  std::array<char, 1 << 16> bytes_;
};

}  // namespace soft
