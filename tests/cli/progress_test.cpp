// Progress as a terminal, a file and a picky terminal get it. `script` is the terminal.
#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kEval = " eval --data shapes --limit 64 --batch 1 --threads 1";

// What a terminal with these settings is sent.
std::string on_terminal(const std::string& settings) {
  const std::string command = settings + " " + SOFT_BINARY + kEval;
  const test::Outcome outcome =
      test::run_shell("script -qec \"stty cols 80; env " + command + "\" /dev/null");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("top-1"));
  return outcome.out;
}

TEST(Progress, IsABarInColourOnATerminal) {
  const std::string sent = on_terminal("TERM=xterm LC_ALL=C.UTF-8 NO_COLOR=");
  EXPECT_THAT(sent, HasSubstr("/64 images"));
  EXPECT_THAT(sent, HasSubstr("\xe2\x94\x80")) << "a bar";
  EXPECT_THAT(sent, HasSubstr("\033[32m")) << "in green";
}

TEST(Progress, HasNoColourWhereNobodyWantsItAndPlainSignsWithoutUnicode) {
  const std::string sent = on_terminal("TERM=xterm LC_ALL=C NO_COLOR=1");
  EXPECT_THAT(sent, HasSubstr("....."));
  EXPECT_THAT(sent, HasSubstr("\033[K")) << "still one line, rewritten";
  EXPECT_THAT(sent, Not(HasSubstr("\033[32m")));
  EXPECT_THAT(sent, Not(HasSubstr("\033[2m")));
}

TEST(Progress, ADumbTerminalAndAFileGetNoControlSequence) {
  EXPECT_THAT(on_terminal("TERM=dumb LC_ALL=C.UTF-8"), Not(HasSubstr("\033")));
  const test::Outcome outcome = test::run_shell(std::string(SOFT_BINARY) + kEval);
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace soft
