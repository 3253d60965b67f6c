// Texts in class folders, on disk or in an archive.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "data/natural.h"
#include "data/sequence_source.h"
#include "data/tar_stream.h"
#include "data/text_file.h"
#include "data/utf8.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

using Names = std::vector<std::string>;

// Where an example of this part lies, the first that exists.
const Names& folders_of(SequencePart part) {
  static const Names train{"train"}, dev{"val", "dev", "test"}, test{"test", "val", "dev"};
  return part == SequencePart::kTrain ? train : part == SequencePart::kDev ? dev : test;
}

std::string first_of(const Names& names, const std::function<bool(const std::string&)>& exists) {
  const auto found = std::find_if(names.begin(), names.end(), exists);
  return found == names.end() ? "" : *found;
}

// IMDb's folder of unlabelled reviews, beside neg and pos.
bool is_class(const std::string& name) { return name != "unsup" && name[0] != '.'; }

Names names_in(const fs::path& folder, bool folders) {
  Names names;
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (folders ? entry.is_directory() && is_class(name)
                  : entry.is_regular_file() && name[0] != '.') {
        names.push_back(name);
      }
    }
  } catch (const fs::filesystem_error& error) {
    fail("cannot read folder '{}': {}", folder.string(), error.code().message());
  }
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

// The classes of a part must be those of training.
void check_classes(const Names& classes, const Names& here, const std::string& place) {
  for (const std::string& name : here) {
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) {
      fail("class '{}' is in '{}' but not among the training texts", name, place);
    }
  }
}

struct TextFiles {
  fs::path folder;
  Names classes;
  std::vector<std::pair<int, std::string>> files;  // class and name

  std::string path(int64_t index) const {
    return (folder / classes[files[index].first] / files[index].second).string();
  }
};

void list_class(TextFiles& texts, int label, int64_t length, SequenceSet& set) {
  const fs::path folder = texts.folder / texts.classes[label];
  const Names names = fs::is_directory(folder) ? names_in(folder, false) : Names{};
  if (names.empty()) fail("class folder '{}' has no texts; fill or remove it", folder.string());
  for (const std::string& name : names) {
    std::error_code unknown;
    const uint64_t size = fs::file_size(folder / name, unknown);
    if (!unknown && size == 0) fail("'{}' is empty", (folder / name).string());
    if (!unknown && size > static_cast<uint64_t>(length)) ++set.cut;
    texts.files.emplace_back(label, name);
    set.labels.push_back(label);
  }
}

fs::path part_folder(const fs::path& root, SequencePart part) {
  const auto exists = [&](const std::string& name) { return fs::is_directory(root / name); };
  if (!exists("train")) return root;
  const std::string name = first_of(folders_of(part), exists);
  if (name.empty()) {
    fail(
        "'{0}' has train/ and no val/, dev/ or test/; texts belong in {0}/train/CLASS/ and "
        "{0}/test/CLASS/, or in {0}/CLASS/",
        root.string());
  }
  return root / name;
}

// Texts of an archive, cut, and where each ends.
struct TextShelf {
  std::string file;
  std::string bytes;
  std::vector<uint64_t> ends;
  Names names;

  std::string text(int64_t index) const {
    const uint64_t first = index == 0 ? 0 : ends[index - 1];
    return bytes.substr(first, ends[index] - first);
  }
};

// "aclImdb/train/pos/7_9.txt" is {"train", "pos"}: the two folders around the file.
std::pair<std::string, std::string> folders_around(const std::string& name) {
  const fs::path path(name);
  return {path.parent_path().parent_path().filename().string(),
          path.parent_path().filename().string()};
}

struct Member {
  std::string label;
  std::string name;
  std::string start;
  uint64_t size = 0;
};

// Members of train/CLASS/, val/CLASS/, … by part; what is elsewhere is no text.
std::map<std::string, std::vector<Member>> read_members(const std::string& file, int64_t length) {
  static const Names parts{"train", "val", "dev", "test"};
  std::map<std::string, std::vector<Member>> members;
  TarStream tar(file);
  while (tar.next()) {
    const auto [part, label] = folders_around(tar.name());
    if (std::find(parts.begin(), parts.end(), part) == parts.end() || !is_class(label)) continue;
    Member member{label, tar.name(), tar.start(static_cast<uint64_t>(length)), tar.size()};
    if (member.size == 0) fail("{} is empty", tar.place());
    Utf8Check utf8;
    const bool good = utf8.take(member.start.data(), member.start.size());
    if (!good || (member.size <= member.start.size() && !utf8.whole())) {
      fail("{} is not UTF-8", tar.place());
    }
    members[part].push_back(std::move(member));
  }
  for (auto& [part, texts] : members) {  // as they lie in a folder, whatever the archive's order
    std::sort(texts.begin(), texts.end(), [](const Member& a, const Member& b) {
      return a.label == b.label ? natural_less(a.name, b.name) : natural_less(a.label, b.label);
    });
  }
  return members;
}

Names labels_in(const std::vector<Member>& members) {
  Names labels;
  for (const Member& member : members) labels.push_back(member.label);
  std::sort(labels.begin(), labels.end(), natural_less);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

}  // namespace

SequenceSet open_text_folder(const std::string& folder, SequencePart part, int64_t length) {
  const fs::path root(folder);
  if (!fs::is_directory(root)) fail("no folder '{}'", folder);
  auto texts = std::make_shared<TextFiles>();
  texts->folder = part_folder(root, part);
  texts->classes = names_in(part_folder(root, SequencePart::kTrain), true);
  if (texts->classes.empty()) {
    fail("no class folders in '{}'", part_folder(root, SequencePart::kTrain).string());
  }
  check_classes(texts->classes, names_in(texts->folder, true), texts->folder.string());
  SequenceSet set;
  set.classes = texts->classes;
  for (size_t label = 0; label < set.classes.size(); ++label) {
    list_class(*texts, static_cast<int>(label), length, set);
  }
  set.divided = texts->folder != root;
  set.shared = part_folder(root, SequencePart::kDev) == part_folder(root, SequencePart::kTest);
  set.load = [texts, length](int64_t index, int) {
    return byte_tokens(read_text_start(texts->path(index), static_cast<uint64_t>(length)), length);
  };
  set.describe = [texts](int64_t index) { return texts->path(index); };
  return set;
}

SequenceSet open_text_archive(const std::string& file, SequencePart part, int64_t length) {
  auto members = read_members(file, length);
  const auto exists = [&](const std::string& name) { return members.count(name) > 0; };
  const std::string name = first_of(folders_of(part), exists);
  if (!exists("train") || name.empty()) {
    fail("'{}' has no texts in train/CLASS/ and test/CLASS/", file);
  }
  SequenceSet set;
  set.classes = labels_in(members["train"]);
  if (labels_in(members[name]) != set.classes) {
    fail("'{}' has other classes in {}/ than in train/", file, name);
  }
  auto shelf = std::make_shared<TextShelf>();
  shelf->file = file;
  for (const Member& member : members[name]) {
    const auto label = std::find(set.classes.begin(), set.classes.end(), member.label);
    set.labels.push_back(static_cast<int>(label - set.classes.begin()));
    set.cut += member.size > static_cast<uint64_t>(length) ? 1 : 0;
    shelf->bytes += member.start;
    shelf->ends.push_back(shelf->bytes.size());
    shelf->names.push_back(member.name);
  }
  set.divided = true;
  set.shared = first_of(folders_of(SequencePart::kDev), exists) ==
               first_of(folders_of(SequencePart::kTest), exists);
  set.load = [shelf, length](int64_t index, int) {
    return byte_tokens(shelf->text(index), length);
  };
  set.describe = [shelf](int64_t index) { return shelf->file + ": " + shelf->names[index]; };
  return set;
}

}  // namespace soft
