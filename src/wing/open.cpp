#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "wing/wing.h"

namespace soft {
namespace {

constexpr const char* kLibrary = "libsoft_torch.so";

// Beside the program in a build tree, in the library folder once installed; "" when in neither.
std::string library_path() {
  const std::string folder = program_folder();
  for (const std::string& path :
       {folder + "/" + kLibrary, folder + "/../" SOFT_TORCH_FOLDER "/" + kLibrary}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

// LibTorch stays with AVX2 kernels unless told otherwise before its first operation.
void allow_avx512() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) setenv("ATEN_CPU_CAPABILITY", "avx512", 0);
#endif
}

void* open_library() {
  const std::string path = library_path();
  if (path.empty()) {
    fail(
        "this command needs the torch wing ({}), which is not in this build; make it with "
        "`cmake --preset release && cmake --build --preset release`",
        kLibrary);
  }
  allow_avx512();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail("cannot open '{}': {}; install LibTorch (scripts/setup) or rebuild", path, dlerror());
  }
  return library;
}

}  // namespace

bool has_torch_wing() { return !library_path().empty(); }

const TorchWing& torch_wing() {
  static const TorchWing* wing = [] {
    using Entry = const TorchWing* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(open_library(), "soft_torch_wing"));
    if (entry == nullptr) {
      fail("{} has no entry point; it belongs to another version: rebuild", kLibrary);
    }
    return entry();
  }();
  return *wing;
}

}  // namespace soft
