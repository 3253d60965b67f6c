// Tar archives as POSIX and GNU write them: long names, large files, pax headers. Content is
// skipped, not read. Damage is said and walked around: what can be found is found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace soft {

constexpr int64_t kTarBlock = 512;

// A regular file in an archive.
struct TarMember {
  std::string name;
  int64_t offset = 0;  // of its content in the archive
  int64_t size = 0;
};

class TarReader {
 public:
  explicit TarReader(std::string path);

  // The next regular file that is there in full; false after the last one.
  bool next(TarMember& member);

  // The content of a small member, which stands beside the headers.
  std::string read(const TarMember& member);

  // What was wrong on the way, a line each, without the archive's name.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  struct Header;
  std::string_view view(int64_t offset, int64_t size);
  bool find_header(Header& header);
  bool skip_to_header();
  bool is_whole(const TarMember& member);
  void take_pax(std::string_view records);
  void apply_description(TarMember& member);

  template <class... Args>
  void complain(std::string_view format, Args&&... args);

  std::string path_;
  Descriptor file_;
  int64_t size_ = 0;
  int64_t position_ = 0;      // of the next header
  std::string buffer_;        // bytes of the archive …
  int64_t buffer_start_ = 0;  // … from here on
  std::string next_name_;     // of the next member, from a header of its own
  int64_t next_size_ = -1;    // the same
  std::vector<std::string> complaints_;
};

}  // namespace soft
