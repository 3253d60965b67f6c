// A folder inside the target's, where files are made before they are moved into place; gone when
// the object is. What a killed program left is removed by the next.
#pragma once

#include <filesystem>

namespace soft {

class WorkFolder {
 public:
  WorkFolder(const std::filesystem::path& target, const char* name) : path_(target / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace soft
