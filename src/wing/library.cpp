#include "wing/library.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "wing/stamp.h"

namespace soft {

std::string wing_path(const std::string& library) {
  const std::string path = library_folder() + "/" + library;
  return std::filesystem::exists(path) ? path : "";
}

void* wing_entry(const std::string& library, const char* entry) {
  const std::string path = wing_path(library);
  if (path.empty()) {
    fail(
        "this needs {}, which is not in this build; make it with `cmake --preset release && cmake "
        "--build --preset release`, or install its package",
        library);
  }
  check_stamp(path);
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    fail("cannot open '{}': {}; install what it needs (scripts/setup) or rebuild", path, dlerror());
  }
  void* found = dlsym(opened, entry);
  if (found == nullptr)
    fail("{} has no entry point; it belongs to another version: rebuild", library);
  return found;
}

}  // namespace soft
