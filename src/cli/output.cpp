#include "cli/output.h"

#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace soft {

namespace fs = std::filesystem;

void check_output(const std::string& path) {
  std::error_code code;
  const fs::path folder = fs::absolute(path, code).parent_path();
  if (code) fail("cannot write '{}': {}", path, code.message());
  if (!fs::is_directory(folder, code)) {
    fail("cannot write '{}': there is no folder '{}'", path, folder.string());
  }
  const fs::file_status status = fs::status(path, code);
  if (!fs::status_known(status)) fail("cannot write '{}': {}", path, code.message());
  if (fs::is_directory(status)) fail("'{}' is a folder; name a file", path);
}

}  // namespace soft
