// The labelled pictures of one shard: a tar archive in which the files of a sample stand one behind
// the other and share their name up to its first dot: KEY.jpg beside KEY.cls (a number) or KEY.json
// (a number "cls" or "label").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/name_list.h"

namespace soft {

struct ShardListing {
  NameList names;                // of the pictures' files in the archive
  std::vector<int64_t> offsets;  // of their content
  std::vector<int64_t> sizes;
  std::vector<int> labels;
  std::vector<std::string> complaints;  // what is broken or was left out

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

constexpr int kMostClasses = 1'000'000;

// Samples that lack a picture or a label are named and left out.
ShardListing list_shard(const std::string& path);

// For an index file. Nothing when the bytes are no listing.
std::string pack(const ShardListing& listing);
std::optional<ShardListing> unpack_shard(std::string_view bytes);

}  // namespace soft
