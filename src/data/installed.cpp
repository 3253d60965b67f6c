#include "data/installed.h"

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/nearest.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What is wrong inside the folder, its reader says best.
bool holds_something(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder, ignored) && !fs::is_empty(folder, ignored);
}

}  // namespace

const std::vector<InstalledSet>& installed_sets() {
  static const std::vector<InstalledSet> sets{
      {"cifar10",
       {{"data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
        {"data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
        {"data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
        {"data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
        {"data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
        {"test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}}},
      {"mnist",
       {{"train-images-idx3-ubyte",
         "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
        {"train-labels-idx1-ubyte",
         "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
        {"t10k-images-idx3-ubyte",
         "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
        {"t10k-labels-idx1-ubyte",
         "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}},
      {"fashion-mnist",
       {{"train-images-idx3-ubyte",
         "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
        {"train-labels-idx1-ubyte",
         "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
        {"t10k-images-idx3-ubyte",
         "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
        {"t10k-labels-idx1-ubyte",
         "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}}},
      {"listops", {}, "`soft lra generate listops --out data/listops` makes it"},
      {"imdb",
       {},
       "put aclImdb.tar.gz or its folder aclImdb (train|test/pos|neg/*.txt) into data/imdb; "
       "published at https://ai.stanford.edu/~amaas/data/sentiment"},
      {"aan",
       {},
       "put new_aan_pairs.{train,eval,test}.tsv (label, id, id, text, text; tabs between) into "
       "data/aan; published with https://github.com/google-research/long-range-arena"},
  };
  return sets;
}

std::string cure_of(const InstalledSet& set) {
  if (set.source != nullptr) return set.source;
  return fmt::format("`soft data get {0} --out data/{0}` gets it", set.name);
}

const std::vector<DrawnSet>& drawn_sets() {
  static const std::vector<DrawnSet> sets{
      {"shapes", "ten kinds of shapes"},
      {"cue", "which shape has the colour of the square in the middle?"},
  };
  return sets;
}

const InstalledSet& find_installed_set(std::string_view name) {
  std::vector<std::string_view> names;
  for (const InstalledSet& set : installed_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  fail_usage("no data set '{}'{}; there are {}", name, hint(name, names), fmt::join(names, ", "));
}

std::vector<std::string> candidate_folders(std::string_view name) {
  std::vector<fs::path> roots;
  if (const std::string data = environment("SOFT_DATA"); !data.empty()) roots.emplace_back(data);
  roots.emplace_back("data");
  if (const std::string home = environment("HOME"); !home.empty()) {
    roots.push_back(fs::path(home) / ".cache" / "soft");
  }
  roots.emplace_back("/usr/share/datasets");  // where Debian puts them
  std::vector<std::string> folders;
  folders.reserve(roots.size());
  for (const fs::path& root : roots) folders.push_back((root / name).string());
  return folders;
}

std::string installed_folder(std::string_view name) {
  for (const std::string& folder : candidate_folders(name)) {
    if (holds_something(folder)) return folder;
  }
  return "";
}

std::string require_installed(std::string_view name) {
  std::string folder = installed_folder(name);
  if (folder.empty()) {
    const std::vector<std::string> looked = candidate_folders(name);
    fail("data set '{}' is not installed (looked in {}); {}", name, fmt::join(looked, ", "),
         cure_of(find_installed_set(name)));
  }
  return folder;
}

}  // namespace soft
