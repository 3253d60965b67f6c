// What the documents say about the source tree is true.
#include <algorithm>
#include <regex>
#include <set>

#include "describe/cost.h"
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
                                         "docs/gallery.md", "docs/numbers.md", "docs/results.md",
                                         "docs/library.md", "docs/training.md", "docs/scaling.md",
                                         "docs/security.md", "docs/forms.md", "docs/sequences.md",
                                         "docs/torch_ops.md"));

TEST_P(Document, NamesOnlyFilesThatExist) {
  const std::string document = text();
  ASSERT_FALSE(document.empty());
  // src/spec/cost.cpp, scripts/demo …; NAME stands in for another name, build/ comes later.
  const std::regex path(
      R"(\b(build/[\w./]*\w|(src|tests|scripts|docs|examples|data|web)/[\w./]*\w))");
  for (std::sregex_iterator it(document.begin(), document.end(), path), end; it != end; ++it) {
    const bool built = it->str().rfind("build/", 0) == 0;
    if (built || it->str().find("NAME") != std::string::npos) continue;
    EXPECT_TRUE(std::filesystem::exists(kRoot + "/" + it->str())) << it->str();
  }
}

TEST_P(Document, KeepsItsLinesReadable) {
  for (const std::string& line : test::lines_of(kRoot + "/" + GetParam())) {
    if (line.rfind("|", 0) == 0) continue;  // a table's row cannot be broken
    EXPECT_LE(line.size(), 132u) << line;
  }
}

// "13,069,056" as a number.
int64_t without_commas(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return std::stoll(text);
}

TEST(Readme, ShowsTheCountsThatTheProgramComputes) {
  // | soft-nano (32² pictures) | 1,290,759 | 0.035 | 0.037 | …
  const std::regex row(R"(\| ([\w-]+)[^|]* \| ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|.*)");
  std::set<std::string> seen;
  for (const std::string& line : test::lines_of(kRoot + "/README.md")) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    const ModelSpec spec = find_model(cells[1].str());
    const ModelCost cost = cost_of(spec, {spec.image_size, spec.image_size});
    EXPECT_EQ(without_commas(cells[2]), cost.params) << line;
    EXPECT_EQ(cells[3], fmt::format("{:.3f}", cost.gmacs())) << line;
    EXPECT_EQ(cells[4], fmt::format("{:.3f}", 1e-9 * static_cast<double>(cost.macs_with_inverse)))
        << line;
    seen.insert(spec.name);
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({"soft-tiny", "soft-small", "soft-medium", "soft-large",
                                           "soft-huge", "soft-nano", "soft-pico"}));
}

TEST(Readme, NamesEveryAttention) {
  const std::string readme = test::read_file(kRoot + "/README.md");
  for (const std::string_view name : names_of(Mechanism{})) {
    if (name == "soft-dense") continue;  // stage 4's alone
    EXPECT_THAT(readme, testing::HasSubstr("`" + std::string(name) + "`"));
  }
}

}  // namespace
}  // namespace soft
