#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "wing/wing.h"

namespace soft {
namespace {

constexpr const char* kLibrary = "libsoft_torch.so";

std::string folder_of_program() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::filesystem::path(std::string(path, size)).parent_path().string() : ".";
}

void* open_library() {
  // LibTorch picks AVX2 kernels unless told otherwise before its first operation.
  setenv("ATEN_CPU_CAPABILITY", __builtin_cpu_supports("avx512f") ? "avx512" : "avx2", 0);
  const std::string folder = folder_of_program();
  for (const std::string& path :
       {folder + "/" + kLibrary, folder + "/../" SOFT_TORCH_FOLDER "/" + kLibrary}) {
    if (!std::filesystem::exists(path)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    fail("cannot open '{}': {}; install LibTorch (scripts/setup) or rebuild", path, dlerror());
  }
  fail(
      "this command needs the torch wing ({}), which is not beside the program; build with "
      "`cmake --preset release && cmake --build --preset release`",
      kLibrary);
}

}  // namespace

const TorchWing& torch_wing() {
  static const TorchWing* wing = [] {
    using Entry = const TorchWing* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(open_library(), "soft_torch_wing"));
    if (entry == nullptr)
      fail("{} has no entry point; it belongs to another version: rebuild", kLibrary);
    return entry();
  }();
  return *wing;
}

}  // namespace soft
