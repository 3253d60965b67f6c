// The project's own sources as text, for the tests that read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace soft::test {

struct Source {
  std::string path;  // below the root: "cli/info.cpp"
  std::vector<std::string> lines;

  std::string room() const {
    const size_t slash = path.find('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
};

inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<Source> sources_below(const std::string& root) {
  std::vector<Source> sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    sources.push_back(
        {std::filesystem::relative(entry.path(), root).string(), lines_of(entry.path())});
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

}  // namespace soft::test
