// Manual pages and completion tell what the help tells.
#include <filesystem>
#include <regex>
#include <set>

#include "support/support.h"

namespace soft {
namespace {

using test::run_shell;
using test::run_soft;
using testing::HasSubstr;

std::set<std::string> flags_in(std::string text, const std::string& dashes) {
  std::set<std::string> flags;
  const std::regex flag("(?:" + dashes + ")([a-z](?:\\\\?-|[a-z0-9])*)");
  for (std::sregex_iterator it(text.begin(), text.end(), flag), end; it != end; ++it) {
    flags.insert(std::regex_replace((*it)[1].str(), std::regex(R"(\\)"), ""));
  }
  return flags;
}

TEST(Generate, WritesAPageForEachCommandWithAllItsFlags) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(run_soft({"generate", "man", folder.path("man")}).exit_code, 0);
  for (const char* command : {"classify", "train", "serve", "bench model"}) {
    const std::string name = std::regex_replace(std::string(command), std::regex(" "), "-");
    const std::string page = test::read_file(folder.path("man/soft-" + name + ".1"));
    const std::string help = run_shell(std::string(SOFT_BINARY) + " " + command + " --help").out;
    EXPECT_EQ(flags_in(page, R"(\\fB\\-\\-)"),
              flags_in(help.substr(0, help.find("Example")), "  --|,--|-h,--"))
        << command;
    EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\nsoft " + std::string(command)));
  }
  EXPECT_THAT(test::read_file(folder.path("man/soft.1")), HasSubstr("soft\\-classify"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("man/soft-generate.1")));
}

TEST(Generate, CompletesCommandsAndFlagsInBash) {
  const test::TemporaryFolder folder;
  test::write_file(folder.path("soft.bash"), run_soft({"generate", "completion"}).out);
  const auto completed = [&](const std::string& words, int at) {
    return run_shell("bash -c 'source ./soft.bash; COMP_WORDS=(" + words +
                         "); COMP_CWORD=" + std::to_string(at) + "; _soft; echo ${COMPREPLY[@]}'",
                     folder.path())
        .out;
  };
  EXPECT_EQ(completed("soft clas", 1), "classify\n");
  EXPECT_EQ(completed("soft classify --to", 2), "--top\n");
  EXPECT_EQ(completed("soft bench mem", 2), "memory\n");
  EXPECT_EQ(completed("soft --threads 2 bench model --comp", 5), "--compare\n");
  EXPECT_EQ(completed("soft classify cat", 2), "\n");  // a file, which bash completes
}

TEST(Generate, IsNotInTheHelp) {
  EXPECT_THAT(run_soft({"--help"}).out, testing::Not(HasSubstr("generate")));
}

}  // namespace
}  // namespace soft
