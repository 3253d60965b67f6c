// A folder of pictures in ImageNet's layout. Whether a picture is whole shows when it is read.
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/folder_listing.h"
#include "data/name_list.h"
#include "data/source.h"
#include "image/codec.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

struct Files {
  std::vector<std::string> folders;  // one per class
  NameList names;                    // of all pictures, inside their class's folder
  std::vector<int> labels;

  std::string path(int64_t index) const {
    return fmt::format("{}/{}", folders[labels[index]], names[index]);
  }
};

// Class folders may also stand in the root itself, where there is neither train/ nor val/.
fs::path split_folder(const fs::path& root, Split split) {
  const bool divided = fs::is_directory(root / "train") || fs::is_directory(root / "val");
  if (split == Split::kTrain) return divided ? root / "train" : root;
  return root / "val";
}

// The classes are those of train/, so that both splits agree; evaluation alone needs no train/.
std::vector<std::string> find_classes(const fs::path& root, Split split) {
  const fs::path train = split_folder(root, Split::kTrain);
  const fs::path val = split_folder(root, Split::kValidation);
  const fs::path wanted = split == Split::kTrain ? train : val;
  if (!fs::is_directory(wanted)) {
    fail(
        "no folder '{0}'; pictures belong in {1}/train/CLASS/ and {1}/val/CLASS/, or in {1}/CLASS/",
        wanted.string(), root.string());
  }
  const bool trainable = fs::is_directory(train);
  std::vector<std::string> classes = folders_in(trainable ? train : val);
  if (classes.empty()) fail("no class folders in '{}'", (trainable ? train : val).string());
  if (!fs::is_directory(val)) return classes;
  for (const std::string& name : folders_in(val)) {
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) {
      fail("class '{}' is in '{}' but not in '{}'", name, val.string(), train.string());
    }
  }
  return classes;
}

[[noreturn]] void fail_empty(const fs::path& folder, const Skipped& skipped) {
  const std::string others =
      skipped.count > 0 ? fmt::format(" ({})", skipped.notice(folder.string())) : "";
  fail("class folder '{}' has no pictures; fill or remove it{}", folder.string(), others);
}

// Where in the root a split's classes are: "train/", "val/" or "".
std::string prefix_of(const fs::path& root, Split split) {
  const fs::path inside = split_folder(root, split).lexically_relative(root);
  return inside == "." ? "" : inside.string() + "/";
}

Files list_files(const fs::path& root, const std::vector<std::string>& classes,
                 const FolderOptions& options) {
  const Split split = options.split;
  const fs::path folder = split_folder(root, split);
  const std::string prefix = prefix_of(root, split);
  IndexFile index(root.string(), options.spare_index);
  Files files;
  Skipped skipped;
  for (size_t label = 0; label < classes.size(); ++label) {
    const fs::path inside = folder / classes[label];
    files.folders.push_back(inside.string());
    ClassListing found;
    if (fs::is_directory(inside)) {
      found = list_class(index, root, prefix + classes[label], options.strict);
    }
    skipped.add(found.skipped);
    if (found.names.empty() && split == Split::kTrain) fail_empty(inside, skipped);
    files.labels.insert(files.labels.end(), found.names.size(), static_cast<int>(label));
    for (const std::string& name : found.names) files.names.add(name);
  }
  if (files.labels.empty()) fail("no pictures in '{}'", folder.string());
  if (skipped.count > 0) log_once(skipped.notice(folder.string()));
  if (files.names.size() >= options.worth_keeping) index.save();
  return files;
}

// Lines "folder readable name"; folders that are not listed keep their own name.
void rename_classes(const fs::path& file, std::vector<std::string>& classes) {
  if (!fs::is_regular_file(file)) return;
  std::map<std::string, std::string> readable;
  std::istringstream lines(read_text(file.string()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string folder;
    std::string name;
    if (words >> folder >> std::ws && std::getline(words, name)) readable[folder] = name;
  }
  for (std::string& name : classes) {
    const auto found = readable.find(name);
    if (found != readable.end()) name = found->second;
  }
}

}  // namespace

bool has_validation(const std::string& folder) {
  return fs::is_directory(fs::path(folder) / "val");
}

Dataset open_folder(const std::string& folder, const FolderOptions& options) {
  const fs::path root(folder);
  Dataset dataset;
  dataset.classes = find_classes(root, options.split);
  auto files = std::make_shared<Files>(list_files(root, dataset.classes, options));
  malloc_trim(0);  // what reading the listing left behind
  dataset.labels = files->labels;
  rename_classes(root / "classes.txt", dataset.classes);
  dataset.load = [files](int64_t index) { return read_image(files->path(index)); };
  dataset.read = [files](int64_t index) { return read_bytes(files->path(index)); };
  dataset.describe = [files](int64_t index) { return files->path(index); };
  return dataset;
}

}  // namespace soft
