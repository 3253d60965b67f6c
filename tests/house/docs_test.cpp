// What the documents say about the source tree is true.
#include <regex>

#include "house/source.h"
#include "support/support.h"

namespace soft {
namespace {

const std::string kRoot = SOFT_SOURCE_DIR;

class Document : public testing::TestWithParam<const char*> {
 protected:
  std::string text() const { return test::read_file(kRoot + "/" + GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, Document,
                         testing::Values("README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                         "docs/architecture.md", "docs/paper_map.md",
                                         "docs/weights_format.md", "docs/server.md",
                                         "docs/gallery.md", "docs/numbers.md", "docs/results.md"));

TEST_P(Document, NamesOnlyFilesThatExist) {
  const std::string document = text();
  ASSERT_FALSE(document.empty());
  // src/spec/cost.cpp, scripts/demo …; NAME stands in for another name.
  const std::regex path(R"(\b(src|tests|scripts|docs|examples|data)/[\w./]*\w)");
  for (std::sregex_iterator it(document.begin(), document.end(), path), end; it != end; ++it) {
    if (it->str().find("NAME") != std::string::npos) continue;
    EXPECT_TRUE(std::filesystem::exists(kRoot + "/" + it->str())) << it->str();
  }
}

TEST_P(Document, KeepsItsLinesReadable) {
  for (const std::string& line : test::lines_of(kRoot + "/" + GetParam())) {
    if (line.rfind("|", 0) == 0) continue;  // a table's row cannot be broken
    EXPECT_LE(line.size(), 132u) << line;
  }
}

TEST(Readme, ShowsTheParametersOfTheTable) {
  const std::string readme = test::read_file(kRoot + "/README.md");
  for (const char* row :
       {"soft-tiny | 13,069,056 | 1.928 | 2.116", "soft-huge | 87,108,273 | 16.015 | 18.655"}) {
    EXPECT_THAT(readme, testing::HasSubstr(row));
  }
}

}  // namespace
}  // namespace soft
