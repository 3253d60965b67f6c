#include "cli/boxed.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace soft {
namespace {

constexpr const char* kFile = "soft-nano-cifar10.safetensors";

}  // namespace

std::string boxed_weights() {
  const std::string program = program_folder();
  for (const std::string& folder : {program + "/../share/soft", program + "/../../models"}) {
    const std::string path = folder + "/" + kFile;
    if (std::filesystem::exists(path)) return std::filesystem::canonical(path).string();
  }
  fail(
      "no --weights given, and the model in the box ('{}') is not beside the program; name a "
      "weights file, e.g. one made by `soft train`",
      kFile);
}

}  // namespace soft
