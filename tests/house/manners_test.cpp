// The habits that a machine can check; CONTRIBUTING.md tells the others.
#include <algorithm>
#include <regex>

#include "house/source.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Source;

constexpr size_t kLongestFile = 300;

class Manners : public testing::TestWithParam<const char*> {
 protected:
  std::vector<Source> sources() const {
    return test::sources_below(std::string(SOFT_SOURCE_DIR) + "/" + GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Folders, Manners, testing::Values("include", "src", "tests", "examples"),
                         [](const auto& folder) { return std::string(folder.param); });

TEST_P(Manners, NoFileIsTooLongToBeOneThing) {
  for (const Source& source : sources()) {
    EXPECT_LE(source.lines.size(), kLongestFile) << source.path;
  }
}

TEST_P(Manners, NoMarkOfUnfinishedWorkIsLeft) {
  // Spelled in two halves, so that this file does not find itself.
  const std::regex marks(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X|DIS"
      "ABLED_|GTEST_"
      "SKIP)");
  for (const Source& source : sources()) {
    for (const std::string& line : source.lines) {
      EXPECT_FALSE(std::regex_search(line, marks)) << source.path << ": " << line;
    }
  }
}

// Highway compiles these once per instruction set, so they are read more than once on purpose.
bool is_read_per_target(const Source& source) {
  const std::string ending = "-inl.h";
  return source.path.size() > ending.size() &&
         source.path.compare(source.path.size() - ending.size(), ending.size(), ending) == 0;
}

TEST_P(Manners, EveryHeaderSaysWhatItIsAndIsReadOnce) {
  for (const Source& source : sources()) {
    if (std::filesystem::path(source.path).extension() != ".h") continue;
    ASSERT_FALSE(source.lines.empty()) << source.path;
    EXPECT_EQ(source.lines.front().rfind("// ", 0), 0u) << source.path;
    if (is_read_per_target(source)) continue;
    // Highway reads its -inl.h files once per instruction set.
    const bool per_target = source.path.find("-inl.h") != std::string::npos;
    const auto once = std::count(source.lines.begin(), source.lines.end(), "#pragma once");
    EXPECT_EQ(once, per_target ? 0 : 1) << source.path;
  }
}

}  // namespace
}  // namespace soft
