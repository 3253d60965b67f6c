// Pictures in shards, in the way of WebDataset: tar archives that are read from front to back.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "data/index_file.h"
#include "data/shard_files.h"
#include "data/shard_listing.h"
#include "data/shard_names.h"
#include "data/source.h"
#include "image/codec.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

// The listings of shards one behind the other. A picture's shard is found from where they begin.
struct Shards {
  explicit Shards(std::vector<std::string> paths) : files(std::move(paths)) {}

  void add(const ShardListing& listing) {
    begins.push_back(static_cast<int64_t>(offsets.size()));
    for (int64_t i = 0; i < listing.size(); ++i) names.add(listing.names[i]);
    offsets.insert(offsets.end(), listing.offsets.begin(), listing.offsets.end());
    sizes.insert(sizes.end(), listing.sizes.begin(), listing.sizes.end());
  }

  size_t shard_of(int64_t index) const {
    return std::upper_bound(begins.begin(), begins.end(), index) - begins.begin() - 1;
  }
  std::string describe(int64_t index) const {
    return fmt::format("{}/{}", files.path(shard_of(index)), names[index]);
  }
  std::vector<uint8_t> read(int64_t index) {
    return files.read(shard_of(index), offsets[index], sizes[index]);
  }
  Image load(int64_t index) {
    const std::string name = describe(index);
    if (sizes[index] > static_cast<int64_t>(kMaxImageBytes)) {
      fail("'{}' is {} bytes; at most {} are read", name, sizes[index], kMaxImageBytes);
    }
    const std::vector<uint8_t> bytes = read(index);
    return decode_image(bytes.data(), bytes.size(), name);
  }

  ShardFiles files;
  std::vector<int64_t> begins;  // the first picture of each shard
  NameList names;
  std::vector<int64_t> offsets, sizes;
};

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// One index for each folder that has shards.
class Indexes {
 public:
  Indexes(const std::vector<std::string>& paths, const std::string& spare) {
    for (const std::string& path : paths) {
      const std::string folder = folder_of(path);
      indexes_.try_emplace(folder, folder, spare);
    }
  }

  const std::string_view* find(const std::string& path) const {
    return indexes_.at(folder_of(path)).find(fs::path(path).filename().string());
  }
  void put(const std::string& path, int64_t seen, const ShardListing& listing) {
    const std::string name = fs::path(path).filename().string();
    indexes_.at(folder_of(path)).put(name, {name}, seen, pack(listing));
  }
  void save() {
    for (auto& [folder, index] : indexes_) index.save();
  }

 private:
  std::map<std::string, IndexFile> indexes_;
};

std::vector<ShardListing> list_shards(const std::vector<std::string>& paths,
                                      const std::string& spare_index) {
  const int64_t seen = IndexFile::now();
  Indexes indexes(paths, spare_index);
  std::vector<ShardListing> listings(paths.size());
  std::vector<char> is_new(paths.size());
  parallel_for(static_cast<int64_t>(paths.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::string_view* known = indexes.find(paths[i]);
      auto listing = known == nullptr ? std::nullopt : unpack_shard(*known);
      is_new[i] = static_cast<char>(!listing);
      listings[i] = listing ? *std::move(listing) : list_shard(paths[i]);
    }
  });
  for (size_t i = 0; i < paths.size(); ++i) {
    if (is_new[i] != 0) indexes.put(paths[i], seen, listings[i]);
    for (const std::string& complaint : listings[i].complaints) {
      log_once(fmt::format("'{}': {}", paths[i], complaint));
    }
  }
  indexes.save();
  return listings;
}

int highest_label(const std::vector<ShardListing>& listings) {
  int highest = -1;
  for (const ShardListing& listing : listings) {
    for (const int label : listing.labels) highest = std::max(highest, label);
  }
  return highest;
}

// Lines "number readable name"; numbers that are not listed are their own names.
std::vector<std::string> named_classes(const std::string& file) {
  std::vector<std::string> classes;
  std::istringstream lines(read_text(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int64_t label = -1;
    std::string name;
    if (!(words >> label >> std::ws) || !std::getline(words, name)) continue;
    if (label < 0 || label >= kMostClasses) fail("'{}': there is no class {}", file, label);
    for (int64_t i = static_cast<int64_t>(classes.size()); i <= label; ++i) {
      classes.push_back(std::to_string(i));
    }
    classes[label] = name;
  }
  if (classes.empty()) fail("'{}' names no class; its lines are 'NUMBER NAME'", file);
  return classes;
}

std::vector<std::string> numbered_classes(int count) {
  std::vector<std::string> classes;
  for (int label = 0; label < count; ++label) classes.push_back(std::to_string(label));
  return classes;
}

// Without a list of their names, the training labels decide how many classes there are.
std::vector<std::string> classes_of(const ShardPaths& paths, const ShardOptions& options,
                                    const std::vector<ShardListing>& listings) {
  const bool train = options.split == Split::kTrain;
  const std::string file = folder_of((train ? paths.train : paths.val).front()) + "/classes.txt";
  int highest = highest_label(listings);
  if (!fs::is_regular_file(file)) {
    if (!train && !paths.train.empty()) {
      highest = std::max(highest, highest_label(list_shards(paths.train, options.spare_index)));
    }
    return numbered_classes(highest + 1);
  }
  std::vector<std::string> classes = named_classes(file);
  if (highest >= static_cast<int>(classes.size())) {
    fail("'{}' names {} classes, but there are pictures of class {}", file, classes.size(),
         highest);
  }
  return classes;
}

}  // namespace

bool has_validation_shards(const std::string& names) { return !find_shards(names).val.empty(); }

Dataset open_shards(const std::string& names, const ShardOptions& options) {
  const ShardPaths paths = find_shards(names);
  const bool train = options.split == Split::kTrain;
  const std::vector<std::string>& mine = train ? paths.train : paths.val;
  if (mine.empty()) fail("'tar:{}' has no shards to {}", names, train ? "train on" : "validate on");
  const std::vector<ShardListing> listings = list_shards(mine, options.spare_index);
  Dataset dataset;
  auto shards = std::make_shared<Shards>(mine);
  for (const ShardListing& listing : listings) {
    shards->add(listing);
    dataset.labels.insert(dataset.labels.end(), listing.labels.begin(), listing.labels.end());
  }
  if (dataset.labels.empty()) {
    fail("no labelled pictures in '{}'{}; a sample is KEY.jpg and KEY.cls or KEY.json",
         mine.front(), mine.size() > 1 ? " and the others" : "");
  }
  dataset.classes = classes_of(paths, options, listings);
  dataset.shards = shards->begins;
  dataset.load = [shards](int64_t index) { return shards->load(index); };
  dataset.read = [shards](int64_t index) { return shards->read(index); };
  dataset.describe = [shards](int64_t index) { return shards->describe(index); };
  return dataset;
}

}  // namespace soft
