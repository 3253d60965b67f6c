// One type has one name in the whole house: two classes of one name in one namespace, in different
// files, are undefined behaviour that neither compiler nor linker must report (one-definition
// rule).
#include <map>
#include <regex>

#include "house/source.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Source;

// Types defined at the level of a namespace others can see, with the files that define them. What a
// source keeps in its anonymous namespace is its own; kernels' targets have namespaces of their
// own.
std::map<std::string, std::vector<std::string>> visible_types(const std::string& root) {
  static const std::regex definition(
      R"(^(?:struct|class|enum class|enum|union) (\w+)(?: final)?(?: : [^;{]*)? ?\{)");
  std::map<std::string, std::vector<std::string>> types;
  for (const Source& source : test::sources_below(root)) {
    bool hidden = false;
    std::string inner;  // a namespace inside soft
    for (const std::string& line : source.lines) {
      if (line == "namespace op {") inner = "op::";
      if (line == "}  // namespace op") inner.clear();
      if (line == "namespace soft::zoo {") inner = "zoo::";
      if (line == "namespace {" || line == "namespace HWY_NAMESPACE {") hidden = true;
      if (line == "}  // namespace" || line == "}  // namespace HWY_NAMESPACE") hidden = false;
      std::smatch match;
      if (!hidden && std::regex_search(line, match, definition)) {
        types[inner + match[1].str()].push_back(source.path);
      }
    }
  }
  return types;
}

std::vector<std::string> doubles(const std::string& root) {
  std::vector<std::string> found;
  for (const auto& [name, files] : visible_types(root)) {
    if (files.size() > 1) found.push_back(name + ": " + testing::PrintToString(files));
  }
  return found;
}

TEST(Names, NoTypeIsDefinedTwice) {
  EXPECT_GT(visible_types(SOFT_SOURCE_DIR "/src").size(), 100u);
  EXPECT_THAT(doubles(SOFT_SOURCE_DIR "/src"), testing::IsEmpty());
}

TEST(Names, ASecondDefinitionIsNoticed) {
  const test::TemporaryFolder folder;
  for (const char* room : {"image", "kernels", "plot"}) {
    std::filesystem::create_directories(folder.path(room));
  }
  test::write_file(folder.path("image/a.h"), "struct Windows {\nenum class Axis { kX };\n");
  test::write_file(folder.path("kernels/b.h"), "struct Windows : Base {\nstruct Axis;\n");
  test::write_file(folder.path("plot/c.cpp"), "namespace {\nstruct Windows {\n}  // namespace\n");
  test::write_file(folder.path("plot/d.h"),
                   "namespace op {\nstruct Windows {\n}  // namespace op\n");
  EXPECT_THAT(doubles(folder.path()),
              testing::ElementsAre("Windows: { \"image/a.h\", \"kernels/b.h\" }"));
}

}  // namespace
}  // namespace soft
