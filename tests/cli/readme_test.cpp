// The commands of README.md and docs/ as they stand there: all are understood, and README's run.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "cli/weights_file.h"
#include "data/toy.h"
#include "support/support.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

const std::string kRoot = SOFT_SOURCE_DIR;

struct Command {
  std::string document;
  std::string line;
};

std::string without_comment(const std::string& line) {
  std::string text = line.substr(0, line.find(" #"));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Lines of code, indented by four or between fences, whose first word is the program.
std::vector<Command> commands_in(const std::string& document) {
  std::istringstream lines(test::read_file(kRoot + "/" + document));
  std::vector<Command> commands;
  bool fenced = false, going_on = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) fenced = !fenced;
    const bool code = fenced || line.rfind("    ", 0) == 0;
    const size_t begin = line.find_first_not_of(' ');
    if (!code || begin == std::string::npos) continue;
    const std::string text = without_comment(line.substr(begin));
    if (going_on) {
      commands.back().line += " " + text;
    } else if (text.rfind("soft ", 0) == 0 || text.rfind("build/release/soft ", 0) == 0) {
      commands.push_back({document, text.substr(text.find("soft "))});
    } else {
      continue;
    }
    going_on = commands.back().line.back() == '\\';
    if (going_on) commands.back().line.pop_back();
  }
  return commands;
}

std::vector<Command> all_commands() {
  std::vector<Command> commands = commands_in("README.md");
  for (const auto& entry : fs::directory_iterator(kRoot + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const auto own = commands_in("docs/" + entry.path().filename().string());
    commands.insert(commands.end(), own.begin(), own.end());
  }
  return commands;
}

Outcome run_line(const std::string& line, const std::string& folder) {
  const std::string program = fs::path(SOFT_BINARY).parent_path().string();
  return test::run_shell("PATH=" + program + ":$PATH SOFT_DATA='" + folder + "/data' " + line,
                         folder);
}

// A flag that nobody knows is complained about last: when it is the only complaint, everything
// before it was understood. Nothing runs.
TEST(Documents, EveryCommandIsUnderstood) {
  const std::vector<Command> commands = all_commands();
  EXPECT_GE(commands.size(), 15u);
  for (const Command& command : commands) {
    const std::string alone = command.line.substr(0, command.line.find_first_of("|>&;"));
    const Outcome outcome = run_line(alone + " --nobody-knows-this", "/");
    EXPECT_THAT(outcome.err, testing::HasSubstr("unknown flag '--nobody-knows-this'"))
        << command.document << ": " << command.line;
  }
}

// Whatever README's commands name, in one folder.
void furnish_readme(const test::TemporaryFolder& folder) {
  const std::string photo = kRoot + "/data/photos/rocket.jpg";
  ModelSpec spec = find_model("soft-nano");
  set_field(spec, "classes", "10");
  for (const char* inside : {"photos", "runs/fashion", "data/fashion-mnist"}) {
    fs::create_directories(folder.path(inside));
  }
  for (int i = 0; i < 60; ++i) {
    const std::string own = folder.path(i % 2 == 0 ? "pets/cat" : "pets/dog");
    fs::create_directories(own);
    fs::copy(kRoot + "/data/photos/cat_chelsea.png", own + fmt::format("/{}.png", i));
  }
  fs::copy(photo, folder.path("photo.jpg"));
  fs::copy(photo, folder.path("photos/photo.jpg"));
  test::write_weights(folder.path("runs/fashion/best.safetensors"), spec);
  test::write_weights(folder.path("released.pth"), spec);
  std::vector<uint8_t> labels;  // as many as a step of training takes
  for (uint8_t i = 0; i < 80; ++i) labels.push_back(i % 10);
  for (const std::string prefix : {"train", "t10k"}) {
    const std::string set = folder.path("data/fashion-mnist/" + prefix);
    test::write_file(set + "-images-idx3-ubyte", test::idx_images(80, 28, 28));
    test::write_file(set + "-labels-idx1-ubyte", test::idx_labels(labels));
  }
}

// These take minutes or do not end: README's test of the server, of training and of measuring are
// elsewhere, here they must get as far as the file that is not there.
std::string shortened(const std::string& line) {
  for (const char* command : {"soft serve", "soft bench"}) {
    if (line.rfind(command, 0) == 0) return line + " --weights /nowhere";
  }
  return line.rfind("soft train", 0) == 0 ? line + " --dry-run" : line;
}

TEST(Readme, ItsCommandsRun) {
  const test::TemporaryFolder folder;
  furnish_readme(folder);
  const std::vector<Command> commands = commands_in("README.md");
  EXPECT_GE(commands.size(), 10u);
  for (const Command& command : commands) {
    const std::string line = shortened(command.line);
    const bool nowhere = line.find("/nowhere") != std::string::npos;
    const bool torch =
        !SOFT_WITH_TORCH && (line.rfind("soft train", 0) == 0 || line.rfind("soft health", 0) == 0);
    const Outcome outcome = run_line(line, folder.path());
    EXPECT_EQ(outcome.exit_code, nowhere || torch ? 1 : 0) << line << "\n" << outcome.err;
    EXPECT_EQ(nowhere, outcome.err.find("/nowhere") != std::string::npos) << line << outcome.err;
  }
}

}  // namespace
}  // namespace soft
