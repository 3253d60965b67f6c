#include "data/tar_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/printable.h"

namespace soft {
namespace {

constexpr int64_t kLongestName = 1 << 16;
constexpr int64_t kLargestPax = 1 << 20;
constexpr int64_t kLookahead = 4096;    // a header, a label and the next header
constexpr size_t kMostComplaints = 20;  // of one archive
constexpr int64_t kWindow = 1 << 20;    // in which a lost header is looked for

int64_t rounded_up(int64_t size) { return (size + kTarBlock - 1) / kTarBlock * kTarBlock; }

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

// Octal digits among spaces and zeros or, from GNU, big-endian bytes behind 0x80. -1: neither.
int64_t number_of(std::string_view field) {
  if (static_cast<uint8_t>(field[0]) == 0x80) {
    uint64_t value = 0;
    for (const char byte : field.substr(1)) {
      if (value >> 55 != 0) return -1;
      value = value << 8 | static_cast<uint8_t>(byte);
    }
    return static_cast<int64_t>(value);
  }
  const size_t begin = std::min(field.find_first_not_of(' '), field.size());
  field = until_zero(field.substr(begin));
  field = field.substr(0, field.find(' '));
  int64_t value = 0;
  const char* end = field.data() + field.size();
  if (field.empty()) return 0;
  const auto [stop, error] = std::from_chars(field.data(), end, value, 8);
  return error == std::errc() && stop == end && value >= 0 ? value : -1;
}

bool is_zero(std::string_view block) {
  return block.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

// One block of 512 bytes. Fields by their places in it.
struct TarReader::Header {
  std::string_view block;

  std::string_view field(size_t begin, size_t size) const { return block.substr(begin, size); }
  char type() const { return block[156]; }
  int64_t size() const { return number_of(field(124, 12)); }
  bool is_regular() const { return type() == '0' || type() == '\0' || type() == '7'; }
  bool describes_next() const { return std::strchr("LKxg", type()) != nullptr && type() != '\0'; }
  bool has_content() const { return type() < '1' || type() > '6'; }  // links, devices and folders

  // Of all bytes, the sum's own counted as spaces; some old programs added them with their signs.
  bool sum_is_right() const {
    int64_t plain = 8 * ' ';
    int64_t with_sign = 8 * ' ';
    for (size_t i = 0; i < block.size(); ++i) {
      if (i >= 148 && i < 156) continue;
      plain += static_cast<uint8_t>(block[i]);
      with_sign += static_cast<int8_t>(block[i]);
    }
    const int64_t stored = number_of(field(148, 8));
    return stored == plain || stored == with_sign;
  }

  bool is_valid() const { return sum_is_right() && size() >= 0; }

  std::string name() const {
    const std::string_view name = until_zero(field(0, 100));
    const std::string_view folder = until_zero(field(345, 155));
    const bool posix = field(257, 6) == std::string_view("ustar\0", 6);
    if (!posix || folder.empty()) return std::string(name);
    return fmt::format("{}/{}", folder, name);
  }
};

template <class... Args>
void TarReader::complain(std::string_view format, Args&&... args) {
  if (complaints_.size() >= kMostComplaints) return;
  complaints_.push_back(fmt::format(fmt::runtime(format), std::forward<Args>(args)...));
}

TarReader::TarReader(std::string path) : path_(std::move(path)) {
  file_ = open_file(path_, O_RDONLY | O_NONBLOCK);  // a pipe is refused, not waited for
  if (!file_.ok()) fail("cannot open '{}': {}", path_, std::strerror(errno));
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) fail("cannot stat '{}': {}", path_, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("'{}' is not a regular file", path_);
  size_ = info.st_size;
  const std::string_view start = view(0, 4);
  if (start.substr(0, 2) == "\x1f\x8b" || start == "\x28\xb5\x2f\xfd" ||
      start.substr(0, 3) == "BZh" ||
      start == std::string_view("\xfd"
                                "7zX")) {
    fail("'{}' is compressed; unpack it, pictures do not become smaller", path_);
  }
}

// Fewer bytes than asked for at the end of the archive. Good until the next call.
std::string_view TarReader::view(int64_t offset, int64_t size) {
  const int64_t have = buffer_start_ + static_cast<int64_t>(buffer_.size());
  if (offset < buffer_start_ || offset + size > have) {
    buffer_.resize(static_cast<size_t>(std::max(size, kLookahead)));
    buffer_start_ = offset;
    size_t got = 0;
    while (got < buffer_.size()) {
      const ssize_t more = ::pread(file_.get(), buffer_.data() + got, buffer_.size() - got,
                                   offset + static_cast<int64_t>(got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) fail("cannot read '{}': {}", path_, std::strerror(errno));
      if (more == 0) break;
      got += static_cast<size_t>(more);
    }
    buffer_.resize(got);
  }
  const auto begin = static_cast<size_t>(offset - buffer_start_);
  return std::string_view(buffer_).substr(std::min(begin, buffer_.size()),
                                          static_cast<size_t>(size));
}

// Moves on to the next block that is a header beyond doubt.
bool TarReader::skip_to_header() {
  const int64_t lost = position_;
  for (position_ += kTarBlock; position_ + kTarBlock <= size_; position_ += kTarBlock) {
    if (position_ % kWindow == 0) view(position_, kWindow);
    const Header header{view(position_, kTarBlock)};
    if (header.block.size() < kTarBlock) break;
    if (header.field(257, 5) != "ustar" || !header.is_valid()) continue;
    complain("no tar header at byte {}; the {} bytes up to the next one are skipped", lost,
             position_ - lost);
    return true;
  }
  complain("no tar header at byte {}; the remaining {} bytes are skipped", lost, size_ - lost);
  return false;
}

bool TarReader::find_header(Header& header) {
  header.block = view(position_, kTarBlock);
  if (header.block.empty()) return false;
  if (header.block.size() < kTarBlock) {
    complain("truncated: it ends in the middle of a header, at byte {}", size_);
    return false;
  }
  if (is_zero(header.block)) {
    if (is_zero(view(position_ + kTarBlock, kTarBlock))) return false;  // the end
    header.block = view(position_, kTarBlock);
  }
  if (header.is_valid()) return true;
  if (!skip_to_header()) return false;
  header.block = view(position_, kTarBlock);
  next_name_.clear();
  next_size_ = -1;
  return true;
}

bool TarReader::is_whole(const TarMember& member) {
  if (member.size <= size_ - member.offset) return true;
  complain("truncated: '{}' is {} bytes long, {} are there", shown(member.name), member.size,
           std::max<int64_t>(0, size_ - member.offset));
  return false;
}

// Records "length key=value\n".
void TarReader::take_pax(std::string_view records) {
  while (!records.empty()) {
    size_t length = 0;
    const auto [stop, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto begin = static_cast<size_t>(stop - records.data()) + 1;
    if (error != std::errc() || length <= begin || length > records.size()) return;
    const std::string_view record = records.substr(begin, length - begin - 1);
    const size_t equals = record.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view value = record.substr(equals + 1);
      if (record.substr(0, equals) == "path") next_name_ = value;
      if (record.substr(0, equals) == "size") {
        std::from_chars(value.data(), value.data() + value.size(), next_size_);
      }
    }
    records.remove_prefix(length);
  }
}

bool TarReader::next(TarMember& member) {
  Header header;
  while (find_header(header)) {
    const char type = header.type();
    const bool regular = header.is_regular();
    member = {header.name(), position_ + kTarBlock, header.has_content() ? header.size() : 0};
    if (!header.describes_next()) apply_description(member);
    if (!is_whole(member)) return false;
    position_ = member.offset + rounded_up(member.size);
    if (type == 'L' && member.size <= kLongestName) next_name_ = until_zero(read(member));
    if (type == 'x' && member.size <= kLargestPax) take_pax(read(member));
    if (regular) return true;
  }
  return false;
}

void TarReader::apply_description(TarMember& member) {
  if (!next_name_.empty()) member.name = std::exchange(next_name_, "");
  if (const int64_t size = std::exchange(next_size_, -1); size >= 0) member.size = size;
}

std::string TarReader::read(const TarMember& member) {
  return std::string(view(member.offset, member.size));
}

}  // namespace soft
