#include "data/tsv.h"

#include <algorithm>

#include "base/error.h"

namespace soft {
namespace {

constexpr size_t kBuffer = size_t{1} << 18;
constexpr size_t kShort = 1000;

}  // namespace

TsvReader::TsvReader(const std::string& path) : file_(path), buffer_(kBuffer) {}

std::string TsvReader::place() const { return fmt::format("'{}', line {}", file_.path(), line_); }

bool TsvReader::refill() {
  if (at_ < end_) return true;
  offset_ += end_;
  at_ = 0;
  end_ = file_.read_some(buffer_.data(), buffer_.size());
  return end_ > 0;
}

bool TsvReader::next_line() {
  if (!refill()) return false;
  ++line_;
  next_ = Next::kField;
  return true;
}

void TsvReader::deliver(std::string_view piece, const Sink& sink) {
  if (!utf8_.take(piece.data(), piece.size())) fail("{}: not UTF-8", place());
  try {
    if (!piece.empty()) sink(piece);
  } catch (const Error& error) {
    fail("{}: {}", place(), error.what());
  }
}

void TsvReader::pass(std::string_view piece, const Sink& sink) {
  if (piece.empty()) return;
  if (held_return_) deliver("\r", sink);
  held_return_ = piece.back() == '\r';
  if (held_return_) piece.remove_suffix(1);
  deliver(piece, sink);
}

void TsvReader::field(std::string_view name, const Sink& sink) {
  if (next_ != Next::kField) fail("{}: no {}; the line has too few fields", place(), name);
  utf8_ = {};
  held_return_ = false;
  next_ = Next::kNothing;
  while (next_ == Next::kNothing && refill()) {
    const uint8_t* first = buffer_.data() + at_;
    const uint8_t* last = buffer_.data() + end_;
    const uint8_t* stop =
        std::find_if(first, last, [](uint8_t c) { return c == '\t' || c == '\n'; });
    pass({reinterpret_cast<const char*>(first), static_cast<size_t>(stop - first)}, sink);
    if (stop < last) next_ = *stop == '\t' ? Next::kField : Next::kLine;
    at_ += static_cast<size_t>(stop - first) + (stop < last ? 1 : 0);
  }
  if (held_return_ && next_ == Next::kField) deliver("\r", sink);
  if (!utf8_.whole()) fail("{}: not UTF-8: {} ends within a character", place(), name);
}

std::string TsvReader::short_field(std::string_view name) {
  std::string text;
  field(name, [&](std::string_view piece) {
    if (text.size() + piece.size() > kShort) {
      fail("the {} is longer than {} bytes; is this the right file?", name, kShort);
    }
    text += piece;
  });
  return text;
}

void TsvReader::end_line() {
  if (next_ == Next::kField) fail("{}: the line has too many fields", place());
}

}  // namespace soft
