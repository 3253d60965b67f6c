// Every --help ends with an example, and the examples work.
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

// The indented lines at the very end of a help text.
std::vector<std::string> examples_of(const std::string& command) {
  const auto lines =
      lines_of(test::run_shell(std::string(SOFT_BINARY) + " " + command + " --help").out);
  std::vector<std::string> examples;
  for (auto line = lines.rbegin(); line != lines.rend() && line->rfind("  soft ", 0) == 0; ++line) {
    examples.push_back(line->substr(2));
  }
  return examples;
}

// Whatever the examples name, in one folder: a picture, a tensor, a checkpoint.
void furnish(const test::TemporaryFolder& folder) {
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
                                         "data", "data list", "data get", "embed", "attend",
                                         "bench", "bench model", "bench roofline"));

TEST_P(Help, EndsWithExamplesThatWork) {
  const auto examples = examples_of(GetParam());
  ASSERT_FALSE(examples.empty());
  const test::TemporaryFolder folder;
  furnish(folder);
  for (const std::string& example : examples) {
    const bool needs_torch = example.find("--compare") != std::string::npos;
    const bool needs_network = example.find("data get") != std::string::npos;
    if ((needs_torch && !SOFT_WITH_TORCH) || needs_network) continue;
    const std::string program = std::filesystem::path(SOFT_BINARY).parent_path().string();
    const Outcome outcome = test::run_shell("PATH=" + program + ":$PATH " + example, folder.path());
    EXPECT_EQ(outcome.exit_code, 0) << example << "\n" << outcome.err;
  }
}

}  // namespace
}  // namespace soft
