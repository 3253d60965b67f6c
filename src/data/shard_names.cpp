#include "data/shard_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "data/natural.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostShards = 1'000'000;

void check_number(size_t shards) {
  if (shards > kMostShards) fail_usage("more than {} shards are named", kMostShards);
}

// The inside of braces at its commas, those of inner braces left alone.
std::vector<std::string> alternatives(const std::string& inside) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : inside) {
    depth += static_cast<int>(c == '{') - static_cast<int>(c == '}');
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) return {};
  return value;
}

// "000..127", each number as wide as the first; nothing when it is no range.
std::vector<std::string> range(const std::string& inside) {
  const size_t dots = inside.find("..");
  if (dots == std::string::npos) return {};
  const auto first = whole_number(std::string_view(inside).substr(0, dots));
  const auto last = whole_number(std::string_view(inside).substr(dots + 2));
  if (!first || !last) return {};
  if (*last < *first) fail_usage("the range {{{}}} ends before it begins", inside);
  check_number(static_cast<size_t>(*last - *first));
  const size_t width = inside[0] == '0' ? dots : 1;
  std::vector<std::string> numbers;
  for (int64_t n = *first; n <= *last; ++n) numbers.push_back(fmt::format("{:0{}}", n, width));
  return numbers;
}

size_t closing_brace(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += static_cast<int>(text[i] == '{') - static_cast<int>(text[i] == '}');
    if (depth == 0) return i;
  }
  fail_usage("a brace in '{}' is not closed", text);
}

bool has_word(const std::string& path, std::initializer_list<std::string_view> words) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const std::string name = fs::path(path).filename().string();
  for (auto begin = name.begin(); begin != name.end();) {
    begin = std::find_if(begin, name.end(), is_letter);
    const auto end = std::find_if_not(begin, name.end(), is_letter);
    if (std::find(words.begin(), words.end(), std::string(begin, end)) != words.end()) return true;
    begin = end;
  }
  return false;
}

bool validates(const std::string& path) { return has_word(path, {"val", "valid", "validation"}); }
bool trains(const std::string& path) { return has_word(path, {"train", "training"}); }
bool tests(const std::string& path) { return has_word(path, {"test"}); }

// The files of a folder whose names match the pattern.
std::vector<std::string> matching(const fs::path& folder, const std::string& pattern) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) {
      found.push_back((folder / name).string());
    }
  }
  if (error) fail("cannot read folder '{}': {}", folder.string(), error.message());
  std::sort(found.begin(), found.end(), natural_less);
  return found;
}

template <class Rule>
std::vector<std::string> those(const std::vector<std::string>& paths, const Rule& rule) {
  std::vector<std::string> chosen;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(chosen), rule);
  return chosen;
}

ShardPaths shards_in(const std::string& folder) {
  const std::vector<std::string> all = matching(folder, "*.tar");
  if (all.empty()) {
    fail("no shards (*.tar) in '{0}'; `soft data shard folder:PICTURES --out {0}` makes them",
         folder);
  }
  ShardPaths paths{those(all, trains), those(all, validates)};
  if (paths.train.empty()) {
    paths.train = those(all, [](const auto& path) { return !validates(path) && !tests(path); });
  }
  return paths;
}

std::vector<std::string> named_files(const std::string& names) {
  std::vector<std::string> files;
  for (const std::string& name : expand_braces(names)) {
    const fs::path path(name);
    if (path.filename().string().find_first_of("*?") == std::string::npos) {
      if (!fs::exists(path)) fail("no shard '{}'", name);
      files.push_back(name);
      continue;
    }
    const std::vector<std::string> found = matching(path.parent_path(), path.filename().string());
    if (found.empty()) fail("no shard matches '{}'", name);
    files.insert(files.end(), found.begin(), found.end());
    check_number(files.size());
  }
  return files;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& text) {
  const size_t open = text.find('{');
  if (open == std::string::npos) return {text};
  const size_t close = closing_brace(text, open);
  const std::string before = text.substr(0, open);
  const std::string inside = text.substr(open + 1, close - open - 1);
  const std::vector<std::string> ends = expand_braces(text.substr(close + 1));
  std::vector<std::string> parts = range(inside);
  if (parts.empty()) parts = alternatives(inside);
  std::vector<std::string> expanded;
  for (const std::string& part : parts) {
    for (const std::string& middle : expand_braces(part)) {
      check_number(expanded.size() + ends.size());
      for (const std::string& end : ends) expanded.push_back(before + middle + end);
    }
  }
  return expanded;
}

ShardPaths find_shards(const std::string& names) {
  if (fs::is_directory(names)) return shards_in(names);
  const std::vector<std::string> all = named_files(names);
  ShardPaths paths{those(all, [](const auto& path) { return !validates(path); }),
                   those(all, validates)};
  if (paths.val.empty()) {
    paths.val = those(matching(fs::path(all.front()).parent_path(), "*.tar"), validates);
  }
  return paths;
}

}  // namespace soft
