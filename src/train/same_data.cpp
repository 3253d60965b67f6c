#include "train/same_data.h"

#include <algorithm>

#include "base/error.h"
#include "data/sha256.h"

namespace soft {
namespace {

// The folder in which a spec's files are: of shards, a part of what names them.
std::string folder_of(const std::string& data) {
  const size_t colon = data.find(':');
  if (colon == std::string::npos) return data;
  std::string folder = data.substr(colon + 1);
  if (data.rfind("tar:", 0) == 0 && folder.find_first_of("{*?") != std::string::npos) {
    folder.resize(folder.find_first_of("{*?"));
    folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
  }
  return folder;
}

// The name of a picture inside its data: where the folder stands is no part of it.
std::string_view name_inside(const std::string& description, const std::string& folder) {
  const bool inside = description.rfind(folder, 0) == 0;
  return std::string_view(description).substr(inside ? folder.size() : 0);
}

template <class Set>
void add_listing(Sha256& sum, const Set& set) {
  const std::string folder = folder_of(set.name);
  for (int64_t i = 0; i < set.size(); ++i) {
    const std::string description = set.describe(i);
    const std::string line =
        fmt::format("{}\n{}\n", name_inside(description, folder), set.labels[i]);
    sum.add(reinterpret_cast<const uint8_t*>(line.data()), line.size());
  }
}

std::string missing_from(const std::vector<std::string>& names,
                         const std::vector<std::string>& among) {
  std::string missing;
  for (const std::string& name : names) {
    if (std::find(among.begin(), among.end(), name) != among.end()) continue;
    missing += fmt::format("{}'{}'", missing.empty() ? "" : ", ", name);
  }
  return missing.empty() ? "none" : missing;
}

template <class Set>
DataMark mark_of(const std::vector<const Set*>& parts) {
  Sha256 sum;
  for (const Set* part : parts) add_listing(sum, *part);
  return {parts.front()->classes, sum.hex()};
}

}  // namespace

DataMark mark_of(const Dataset& train, const Dataset& val) {
  return mark_of<Dataset>({&train, &val});
}

DataMark mark_of(const SequenceSet& train, const SequenceSet& dev, const SequenceSet& test) {
  return mark_of<SequenceSet>({&train, &dev, &test});
}

void check_same_data(const std::string& data, const DataMark& stored, const DataMark& now,
                     const std::string& otherwise) {
  if (!stored.classes.empty() && stored.classes != now.classes) {
    fail(
        "the classes of '{}' are not those this run began with: gone {}, new {}; labels would "
        "change their meaning. Put them back, or begin a new run",
        data, missing_from(stored.classes, now.classes), missing_from(now.classes, stored.classes));
  }
  if (stored.listing.empty() || stored.listing == now.listing || otherwise.empty()) return;
  fail(
      "the examples of '{}' are not those this run began with: files came, went or were renamed. "
      "Put them back, or {}",
      data, otherwise);
}

}  // namespace soft
