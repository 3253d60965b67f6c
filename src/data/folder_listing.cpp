#include "data/folder_listing.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "data/natural.h"
#include "data/packed.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

// Calls the body, turning the library's errors into ours.
template <class Body>
void walk(const fs::path& folder, const Body& body) {
  try {
    body();
  } catch (const fs::filesystem_error& error) {
    const fs::path& culprit = error.path1().empty() ? folder : error.path1();
    fail("cannot read folder '{}': '{}': {}", folder.string(), culprit.string(),
         error.code().message());
  }
}

// A link to a folder that it is in would lead round and round.
void check_link(const fs::path& link) {
  const std::string target = (fs::canonical(link) / "").string();
  const std::string place = (fs::canonical(link.parent_path()) / "").string();
  if (place.rfind(target, 0) != 0) return;
  fail("'{}' is a link to a folder that it is in, '{}'; remove it", link.string(), target);
}

std::string inside(const fs::path& folder, const std::string& path) {
  return path.substr(folder.string().size() + 1);
}

bool stays_inside(std::string_view name) {
  return !name.empty() && name[0] != '/' && name.rfind("../", 0) != 0 &&
         name.find("/../") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  walk(folder, [&] {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
  });
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

ClassListing walk_class(const fs::path& folder, bool strict, std::vector<std::string>* visited) {
  constexpr auto kFollow = fs::directory_options::follow_directory_symlink;
  ClassListing listing;
  if (visited != nullptr) visited->emplace_back();
  walk(folder, [&] {
    for (const auto& entry : fs::recursive_directory_iterator(folder, kFollow)) {
      if (entry.is_symlink()) check_link(entry.path());
      const std::string path = entry.path().string();
      if (visited != nullptr && entry.is_directory()) visited->push_back(inside(folder, path));
      if (!entry.is_regular_file()) continue;
      if (!strict && !is_picture_file(path)) {
        listing.skipped.add(path);
      } else {
        listing.names.push_back(inside(folder, path));
      }
    }
  });
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

// The index holds paths inside the folder alone: how the folder is named on the command line is no
// part of it.
std::string pack(const ClassListing& listing, const fs::path& folder) {
  PackedWriter writer;
  writer.number(listing.names.size());
  for (const std::string& name : listing.names) writer.text(name);
  writer.number(static_cast<uint64_t>(listing.skipped.count));
  writer.text(listing.skipped.count == 0 ? "" : inside(folder, listing.skipped.first));
  return writer.take();
}

// Nothing when the index says what no walk can have found.
std::optional<ClassListing> unpack_class(std::string_view content, const fs::path& folder) {
  PackedReader reader(content);
  ClassListing listing;
  for (uint64_t left = reader.number(); reader.ok() && left > 0; --left) {
    const std::string_view name = reader.text();
    if (!stays_inside(name)) return {};
    listing.names.emplace_back(name);
  }
  listing.skipped.count = reader.whole();
  listing.skipped.first = (folder / reader.text()).string();
  if (!reader.at_end()) return {};
  return listing;
}

ClassListing list_class(IndexFile& index, const fs::path& root, const std::string& folder,
                        bool strict) {
  const fs::path path = root / folder;
  if (strict) return walk_class(path, true);
  if (const std::string_view* known = index.find(folder)) {
    if (auto listing = unpack_class(*known, path)) return *std::move(listing);
  }
  const int64_t seen = IndexFile::now();
  std::vector<std::string> sources;
  ClassListing listing = walk_class(path, false, &sources);
  for (std::string& source : sources) source = source.empty() ? folder : folder + "/" + source;
  index.put(folder, sources, seen, pack(listing, path));
  return listing;
}

}  // namespace soft
