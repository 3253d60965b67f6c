#include "cli/output.h"

#include <filesystem>

#include "base/error.h"

namespace soft {

void check_output(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    fail("cannot write '{}': there is no folder '{}'", path, folder.string());
  }
  if (std::filesystem::is_directory(path)) fail("'{}' is a folder; name a file", path);
}

}  // namespace soft
