#include "support/support.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace soft::test {
namespace fs = std::filesystem;

std::string golden(const std::string& file) { return std::string(SOFT_GOLDEN_DIR) + "/" + file; }

std::string photo(const std::string& file) {
  return std::string(SOFT_SOURCE_DIR) + "/data/photos/" + file;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "soft_test_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail("cannot make a temporary folder");
  folder_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string TemporaryFolder::path(const std::string& file) const {
  return file.empty() ? folder_ : folder_ + "/" + file;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

namespace {

// Forks, sends the three streams to files in a scratch folder, and lets `become` replace the child.
Outcome run_child(const std::string& input, const std::function<void()>& become) {
  const TemporaryFolder folder;
  write_file(folder.path("in"), input);
  const pid_t child = fork();
  if (child == 0) {
    const auto redirect = [](const std::string& path, int flags, int target) {
      const int file = open(path.c_str(), flags, 0600);
      if (file < 0 || dup2(file, target) < 0) _exit(126);
    };
    redirect(folder.path("in"), O_RDONLY, 0);
    redirect(folder.path("out"), O_WRONLY | O_CREAT, 1);
    redirect(folder.path("err"), O_WRONLY | O_CREAT, 2);
    become();
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_file(folder.path("out")), read_file(folder.path("err"))};
}

}  // namespace

Outcome run_soft(const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<const char*> argv{SOFT_BINARY};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  return run_child(input, [&] { execv(argv[0], const_cast<char* const*>(argv.data())); });
}

Outcome run_shell(const std::string& line, const std::string& folder) {
  return run_child("", [&] {
    if (chdir(folder.c_str()) == 0) execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
  });
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected a soft::Error, but nothing was thrown";
  return "";
}

}  // namespace soft::test
