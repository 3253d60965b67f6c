// Every --help ends with an example, and the examples work.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/npy.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string help_of(const std::string& command) {
  return test::run_shell(std::string(SOFT_BINARY) + " " + command + " --help").out;
}

// The indented lines at the very end of a help text; a backslash goes on in the next one.
std::vector<std::string> examples_of(const std::string& command) {
  std::string help = help_of(command);
  for (size_t at = help.find("\\\n"); at != std::string::npos; at = help.find("\\\n")) {
    help.replace(at, 2, "");
  }
  const auto lines = lines_of(help);
  std::vector<std::string> examples;
  for (auto line = lines.rbegin(); line != lines.rend() && line->rfind("  soft ", 0) == 0; ++line) {
    examples.insert(examples.begin(), line->substr(2));
  }
  return examples;
}

// Commands as a help text lists them: the first word of lines indented by two, before the examples.
std::vector<std::string> listed_in(const std::string& help) {
  std::vector<std::string> commands;
  bool listed = false;
  for (const std::string& line : lines_of(help)) {
    if (!line.empty() && line[0] != ' ') listed = line != "Options:" && line != "Positionals:";
    if (line.rfind("Example", 0) == 0) break;
    if (listed && line.rfind("  ", 0) == 0 && line.size() > 2 && std::islower(line[2]) != 0) {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return commands;
}

size_t columns_of(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

void expect_narrow(const std::string& command) {
  const std::string help = help_of(command);
  ASSERT_FALSE(help.empty()) << command;
  for (const std::string& line : lines_of(help)) {
    EXPECT_LE(columns_of(line), 80u) << "soft " << command << " --help: " << line;
  }
}

// CLI11 2.4 refuses a flag with the name of a positional.
void expect_distinct_names(const std::string& command) {
  const std::string help = help_of(command);
  bool positional = false;
  for (const std::string& line : lines_of(help)) {
    if (!line.empty() && line[0] != ' ') positional = line == "Positionals:";
    if (!positional || line.rfind("  ", 0) != 0 || std::islower(line[2]) == 0) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    EXPECT_EQ(help.find("  --" + name + " "), std::string::npos)
        << "soft " << command << " --" << name;
  }
}

// Whatever the examples name, in one folder: a picture, a tensor, a checkpoint.
void furnish_examples(const test::TemporaryFolder& folder) {
  std::filesystem::create_directory(folder.path("folder"));
  for (const char* photo : {"photo.png", "folder/photo.png"}) {
    std::filesystem::copy(SOFT_SOURCE_DIR "/data/photos/cat_chelsea.png", folder.path(photo));
  }
  write_npy(folder.path("batch.npy"), {{1, 3, 32, 32}, std::vector<float>(3 * 32 * 32)});
  test::write_weights(folder.path("model.safetensors"), find_model("soft-nano"));
  std::filesystem::copy(folder.path("model.safetensors"), folder.path("checkpoint.pth"));
}

class Help : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Commands, Help,
                         testing::Values("", "models", "info", "doctor", "forward", "convert",
                                         "quantize", "data", "data list", "data get", "embed",
                                         "attend", "bench", "bench model", "bench roofline", "lra",
                                         "lra generate"));

#if SOFT_WITH_TORCH
INSTANTIATE_TEST_SUITE_P(Training, Help, testing::Values("train", "health"));
#endif

TEST_P(Help, EndsWithExamplesThatWork) {
  const auto examples = examples_of(GetParam());
  ASSERT_FALSE(examples.empty());
  const test::TemporaryFolder folder;
  furnish_examples(folder);
  for (const std::string& example : examples) {
    const bool needs_torch = example.find("--compare") != std::string::npos;
    const bool needs_network = example.find("data get") != std::string::npos;
    if ((needs_torch && !SOFT_WITH_TORCH) || needs_network) continue;
    const std::string program = std::filesystem::path(SOFT_BINARY).parent_path().string();
    const Outcome outcome = test::run_shell("PATH=" + program + ":$PATH " + example, folder.path());
    EXPECT_EQ(outcome.exit_code, 0) << example << "\n" << outcome.err;
  }
}

// Every command and every command of a command.
std::vector<std::string> all_commands() {
  std::vector<std::string> all;
  for (const std::string& command : listed_in(help_of(""))) {
    all.push_back(command);
    if (command != "bench" && command != "data" && command != "lra") continue;
    for (const std::string& name : listed_in(help_of(command))) all.push_back(command + " " + name);
  }
  return all;
}

TEST(HelpText, OfEveryCommandFitsInto80Columns) {
  expect_narrow("");
  const std::vector<std::string> commands = all_commands();
  EXPECT_THAT(commands, testing::IsSupersetOf({"models", "train", "eval", "serve", "bench memory",
                                               "data export", "lra train"}));
  for (const std::string& command : commands) expect_narrow(command);
}

TEST(HelpText, NamesNothingTwice) {
  for (const std::string& command : all_commands()) expect_distinct_names(command);
}

TEST(HelpText, ResultsOfTheCommandsThatLookAroundFitToo) {
  std::vector<std::string> lines{"models",
                                 "doctor",
                                 "data list",
                                 "info soft-huge-norm",
                                 "info soft-tiny --size 4096",
                                 "info soft-tiny --settings"};
  for (const char* attention : {"gaussian-softmax", "nystromformer", "reformer"}) {
    lines.push_back(std::string("info soft-huge --size 512 --attention ") + attention);
  }
  for (const std::string& command : lines) {
    const test::Outcome outcome = test::run_shell(std::string(SOFT_BINARY) + " " + command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string& line : lines_of(outcome.out)) {
      const bool path = line.find('/') != std::string::npos;  // a word that cannot be broken
      EXPECT_TRUE(path || columns_of(line) <= 80u) << "soft " << command << ": " << line;
    }
  }
}

}  // namespace
}  // namespace soft
