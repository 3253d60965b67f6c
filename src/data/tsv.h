// Lines of tab-separated fields, read in pieces, so that a field of a gigabyte takes no more memory
// than a short one. No quoting; lines end with LF or CRLF.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/gzip.h"
#include "data/utf8.h"

namespace soft {

class TsvReader {
 public:
  explicit TsvReader(const std::string& path);

  bool next_line();                       // false after the last one
  int64_t line() const { return line_; }  // from 1
  std::string place() const;              // "FILE, line 7"

  using Sink = std::function<void(std::string_view piece)>;
  // The next field of the line, in pieces; an Error where the line has no more fields or the field
  // is no UTF-8. `name` is what the message calls it. An Error of the sink gets the place in front.
  void field(std::string_view name, const Sink& sink);
  std::string short_field(std::string_view name);  // whole; longer than 1,000 bytes is an Error
  void end_line();                                 // an Error where another field follows

  uint64_t offset() const { return offset_ + at_; }  // of the next byte, in the unpacked file

 private:
  enum class Next { kField, kLine, kNothing };

  bool refill();
  void pass(std::string_view piece, const Sink& sink);
  void deliver(std::string_view piece, const Sink& sink);

  GzipReader file_;
  std::vector<uint8_t> buffer_;
  size_t at_ = 0, end_ = 0;  // what is left of the buffer
  uint64_t offset_ = 0;      // of the buffer
  int64_t line_ = 0;
  Next next_ = Next::kLine;
  bool held_return_ = false;  // a CR that is the field's or the line's
  Utf8Check utf8_;
};

}  // namespace soft
