#include "train/run_folder.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipe = "recipe.json";

// A process killed while it wrote its first state leaves a temporary file, which holds nothing.
bool has_states(const fs::path& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> run_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const char* name :
       {"last.safetensors", "best.safetensors", "log.csv", "curve.svg", "result.json", kRecipe}) {
    if (fs::exists(fs::path(folder) / name, code)) names.emplace_back(name);
    if (code) fail("cannot look into '{}': {}", folder, code.message());
  }
  if (has_states(fs::path(folder) / "state")) names.emplace_back("state");
  return names;
}

void check_unused(const std::string& folder, const char* command) {
  const auto names = run_files(folder);
  if (names.empty()) return;
  fail(
      "'{0}' holds a run already; `{2} --resume {0}` continues it, another --out keeps it, "
      "--restart moves it aside ({1})",
      folder, fmt::join(names, ", "), command);
}

void check_nothing_to_lose(const std::string& folder, const char* command) {
  auto names = run_files(folder);
  if (names.empty() || names == std::vector<std::string>{kRecipe}) return;  // killed at its start
  fail(
      "'{0}' has no readable state to go on from, but {1}; to begin again, `{2} --restart --out "
      "{0} …` moves them aside{3}",
      folder, fmt::join(names, ", "), command,
      command == kTrainCommand
          ? fmt::format("; `--init {}/last.safetensors` starts from its weights", folder)
          : "");
}

std::string set_aside(const std::string& folder) {
  const auto names = run_files(folder);
  if (names.empty()) return "";
  int number = 1;
  const auto place = [&] { return fmt::format("{}/before-{}", folder, number); };
  while (fs::exists(place())) ++number;
  make_folder(place());
  for (const std::string& name : names) {
    std::error_code code;
    fs::rename(fs::path(folder) / name, fs::path(place()) / name, code);
    if (code) fail("cannot move '{}/{}' to '{}': {}", folder, name, place(), code.message());
  }
  return place();
}

}  // namespace soft
