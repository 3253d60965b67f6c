// A folder of pictures in ImageNet's layout. Whether a picture is whole shows when it is read.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/natural.h"
#include "data/source.h"
#include "image/codec.h"
#include "image/picture_file.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

struct Files {
  std::vector<std::string> folders;  // one per class
  std::vector<std::string> names;    // of all pictures, inside their class's folder
  std::vector<int> labels;

  std::string path(int64_t index) const { return folders[labels[index]] + "/" + names[index]; }
};

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

std::vector<std::string> class_folders(const fs::path& folder) {
  std::vector<std::string> names;
  walk(folder, [&] {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
  });
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

// A link to a folder that it is in would lead round and round.
void check_link(const fs::path& link) {
  const std::string target = (fs::canonical(link) / "").string();
  const std::string place = (fs::canonical(link.parent_path()) / "").string();
  if (place.rfind(target, 0) != 0) return;
  fail("'{}' is a link to a folder that it is in, '{}'; remove it", link.string(), target);
}

// Pictures at any depth, by their names inside the folder; what is no picture goes to `skipped`,
// unless that is null.
std::vector<std::string> files_below(const fs::path& folder, Skipped* skipped) {
  constexpr auto kFollow = fs::directory_options::follow_directory_symlink;
  std::vector<std::string> names;
  walk(folder, [&] {
    for (const auto& entry : fs::recursive_directory_iterator(folder, kFollow)) {
      if (entry.is_symlink()) check_link(entry.path());
      if (!entry.is_regular_file()) continue;
      const std::string path = entry.path().string();
      if (skipped != nullptr && !is_picture_file(path)) {
        skipped->add(path);
      } else {
        names.push_back(path.substr(folder.string().size() + 1));
      }
    }
  });
  std::sort(names.begin(), names.end());
  return names;
}

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
  std::vector<std::string> classes = class_folders(trainable ? train : val);
  if (classes.empty()) fail("no class folders in '{}'", (trainable ? train : val).string());
  if (!fs::is_directory(val)) return classes;
  for (const std::string& name : class_folders(val)) {
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

Files list_files(const fs::path& folder, const std::vector<std::string>& classes, Split split,
                 bool strict) {
  Files files;
  Skipped skipped;
  for (size_t label = 0; label < classes.size(); ++label) {
    const fs::path inside = folder / classes[label];
    files.folders.push_back(inside.string());
    std::vector<std::string> names;
    if (fs::is_directory(inside)) names = files_below(inside, strict ? nullptr : &skipped);
    if (names.empty() && split == Split::kTrain) fail_empty(inside, skipped);
    files.labels.insert(files.labels.end(), names.size(), static_cast<int>(label));
    std::move(names.begin(), names.end(), std::back_inserter(files.names));
  }
  if (files.names.empty()) fail("no pictures in '{}'", folder.string());
  if (skipped.count > 0) log_once(skipped.notice(folder.string()));
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

Dataset open_folder(const std::string& folder, Split split, bool strict) {
  const fs::path root(folder);
  Dataset dataset;
  dataset.classes = find_classes(root, split);
  const fs::path pictures = split_folder(root, split);
  auto files = std::make_shared<Files>(list_files(pictures, dataset.classes, split, strict));
  dataset.labels = files->labels;
  rename_classes(root / "classes.txt", dataset.classes);
  dataset.load = [files](int64_t index) { return read_image(files->path(index)); };
  dataset.describe = [files](int64_t index) { return files->path(index); };
  return dataset;
}

}  // namespace soft
