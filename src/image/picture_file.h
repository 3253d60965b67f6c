// Which files of a folder are meant to be pictures. LICENCE.md, .DS_Store and Thumbs.db are not; a
// broken .jpg is, and an error when it is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soft {

bool has_picture_ending(std::string_view name);  // .jpg, .PNG, .webp, .gif …

// By its ending alone where that says so: lists of a million files must not open each of them.
// Otherwise by its first bytes. A file that cannot be opened is one, so that reading it says why.
bool is_picture_file(const std::string& path);

// What a walk through a folder left out.
struct Skipped {
  int64_t count = 0;
  std::string first;

  void add(const std::string& path);
  void add(const Skipped& more);
  // One line: how many, which, and how to have them taken. "" when there are none.
  std::string notice(const std::string& folder) const;
};

}  // namespace soft
