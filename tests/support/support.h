// Shared by all tests: paths, temporary folders, running the real binary, checking error messages.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace soft::test {

std::string golden(const std::string& file);  // path of a file in tests/golden
std::string photo(const std::string& file);   // path of a file in data/photos

// A fresh folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const std::string& file = "") const;

 private:
  std::string folder_;
};

void write_file(const std::string& path, const std::string& bytes);
std::string read_file(const std::string& path);

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Runs build/…/soft with these arguments, stdin from `input`.
Outcome run_soft(const std::vector<std::string>& arguments, const std::string& input = "");

// Runs a line of shell in `folder`.
Outcome run_shell(const std::string& line, const std::string& folder = "/");

// The message of the soft::Error that `action` throws; fails the test when it throws none.
std::string error_of(const std::function<void()>& action);

}  // namespace soft::test
