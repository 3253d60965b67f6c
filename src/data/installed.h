// Data sets known by name, and the folders where they are looked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace soft {

// A file of an installed set and the SHA-256 of its content, uncompressed.
struct InstalledFile {
  const char* name;
  const char* sha256;
};

struct InstalledSet {
  std::string_view name;
  std::vector<InstalledFile> files;  // none: their content is not known in advance
  const char* source = nullptr;      // how people come by it, where `soft data get` cannot get it
};

const std::vector<InstalledSet>& installed_sets();
const InstalledSet& find_installed_set(std::string_view name);  // Error for unknown names

std::string cure_of(const InstalledSet& set);  // what to do when it is not there

// Sets that need no files.
struct DrawnSet {
  std::string_view name, what;
};
const std::vector<DrawnSet>& drawn_sets();

// $SOFT_DATA/NAME, data/NAME, ~/.cache/soft/NAME, /usr/share/datasets/NAME.
std::vector<std::string> candidate_folders(std::string_view name);

std::string installed_folder(std::string_view name);   // the first that has the set; "" if none has
std::string require_installed(std::string_view name);  // the same, or an Error with the cure

}  // namespace soft
