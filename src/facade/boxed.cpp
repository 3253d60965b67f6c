#include "facade/boxed.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "spec/names.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders() {
  const char* own = std::getenv("SOFT_MODELS");
  if (own != nullptr && *own != '\0') return {own};
  const std::string library = library_folder();  // PREFIX/lib, PREFIX/lib/TRIPLET or build/PRESET
  return {library + "/../share/soft", library + "/../../share/soft", library + "/../../models"};
}

std::string path_of(const BoxedModel& box) {  // "" when it is not there
  for (const std::string& folder : folders()) {
    const fs::path path = fs::path(folder) / box.file;
    std::error_code unknown;
    if (fs::exists(path, unknown)) return fs::canonical(path).string();
  }
  return "";
}

const BoxedModel& find_box(const std::string& name) {
  if (name.empty()) return boxed_models().front();
  std::vector<std::string_view> names;
  for (const BoxedModel& box : boxed_models()) names.push_back(box.name);
  return boxed_models()[parse_name("box", name, names)];
}

}  // namespace

const std::vector<BoxedModel>& boxed_models() {
  static const std::vector<BoxedModel> all{
      {"cifar10", "soft-nano-cifar10.safetensors",
       "Which of ten animals and vehicles is in the photograph?"},
      {"cue", "soft-cue.safetensors", "Which shape has the colour of the square in the middle?"},
  };
  return all;
}

std::vector<BoxedModel> present_boxed_models() {
  std::vector<BoxedModel> present;
  for (const BoxedModel& box : boxed_models()) {
    if (!path_of(box).empty()) present.push_back(box);
  }
  return present;
}

std::string boxed_weights(const std::string& name) {
  const BoxedModel& box = find_box(name);
  const std::string path = path_of(box);
  if (!path.empty()) return path;
  std::vector<std::string> there;
  for (const BoxedModel& other : present_boxed_models()) there.push_back(other.name);
  const std::string others = there.empty()
                                 ? "nor are those of any other"
                                 : fmt::format("those there are: {}", fmt::join(there, ", "));
  fail(
      "the weights of the box '{}', '{}', are not where the models in the box are looked for; {}. "
      "Name a weights file, e.g. one made by `soft train`, or in SOFT_MODELS the folder that has "
      "them",
      box.name, box.file, others);
}

}  // namespace soft
