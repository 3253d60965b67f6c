// The pictures below a class folder, found by walking through it or in the index of an earlier
// walk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/index_file.h"
#include "image/picture_file.h"

namespace soft {

// What one class folder holds.
struct ClassListing {
  std::vector<std::string> names;  // of its pictures, at any depth, sorted; paths inside the folder
  Skipped skipped;                 // what is no picture
};

// The folders in a folder, in natural order.
std::vector<std::string> folders_in(const std::filesystem::path& folder);

// Walks; `strict` takes every file for a picture. The folders it came through, by their paths
// inside `folder` ("" for itself), go to `visited` unless that is null.
ClassListing walk_class(const std::filesystem::path& folder, bool strict,
                        std::vector<std::string>* visited = nullptr);

// The same by way of the index of `root`, where `folder` lies by that name. `strict` walks.
ClassListing list_class(IndexFile& index, const std::filesystem::path& root,
                        const std::string& folder, bool strict);

// For an index file. Nothing when the bytes are no listing, or lead out of the folder.
std::string pack(const ClassListing& listing, const std::filesystem::path& folder);
std::optional<ClassListing> unpack_class(std::string_view bytes,
                                         const std::filesystem::path& folder);

}  // namespace soft
