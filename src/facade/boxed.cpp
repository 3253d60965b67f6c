#include "facade/boxed.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace soft {
namespace {

constexpr const char* kFile = "soft-nano-cifar10.safetensors";

}  // namespace

std::string boxed_weights() {
  const std::string library = library_folder();  // PREFIX/lib, PREFIX/lib/TRIPLET or build/PRESET
  for (const char* folder : {"/../share/soft/", "/../../share/soft/", "/../../models/"}) {
    const std::string path = library + folder + kFile;
    if (std::filesystem::exists(path)) return std::filesystem::canonical(path).string();
  }
  fail(
      "no weights given, and the model in the box ('{}') is not beside the library; name a "
      "weights file, e.g. one made by `soft train`",
      kFile);
}

}  // namespace soft
