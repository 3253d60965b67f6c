#include <fmt/ranges.h>

#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "kernels/machine.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct Options {
  bool json = false;
};

// LibTorch's side of the story. A build without the torch wing is healthy; a wing that does not
// open is not.
Json ask_torch() {
  if (!has_torch_wing()) return {{"ok", true}, {"present", false}};
  Json answer{{"ok", true}, {"present", true}};
  try {
    answer.update(torch_wing().doctor(threads()));
  } catch (const Error& error) {
    return {{"ok", false}, {"present", true}, {"error", error.what()}};
  }
  for (const Json& defect : answer.value("defects", Json::array())) {
    if (defect.at("found") && !defect.at("cured")) answer["ok"] = false;
  }
  return answer;
}

Json examine() {
  const Machine machine = describe_machine();
  Json torch = ask_torch();
  return {{"ok", torch["ok"]},
          {"version", SOFT_VERSION},
          {"cpu", machine.cpu},
          {"isa", machine.instructions},
          {"highway", machine.highway_target},
          {"cores", hardware_threads()},
          {"threads", threads()},
          {"onednn", machine.onednn_version},
          {"onednn_isa", machine.onednn_target},
          {"torch", std::move(torch)}};
}

void print_torch(const Json& torch) {
  if (!torch.at("present")) {
    fmt::print("LibTorch   not in this build (training and --engine torch need it)\n");
    return;
  }
  if (torch.contains("error")) {
    fmt::print("LibTorch   {}\n", torch.at("error").get<std::string>());
    return;
  }
  const auto text = [&](const char* key) { return torch.value(key, "unknown"); };
  fmt::print("LibTorch   {}, {} kernels\n", text("libtorch"), text("capability"));
  fmt::print("BLAS       {} ({})\n", text("blas"), text("blas_library"));
  for (const Json& defect : torch.value("defects", Json::array())) {
    const bool found = defect.at("found");
    fmt::print("defect     {}: {}\n", defect.at("name").get<std::string>(),
               found ? "found; " + defect.at("cure").get<std::string>() : "not in this LibTorch");
  }
}

void print_for_people(const Json& answer) {
  fmt::print("soft       {}\n", SOFT_VERSION);
  fmt::print("CPU        {}\n", answer.at("cpu").get<std::string>());
  fmt::print("vectors    {}\n", fmt::join(answer.at("isa").get<std::vector<std::string>>(), " "));
  fmt::print("kernels    Highway takes {}\n", answer.at("highway").get<std::string>());
  fmt::print("oneDNN     {}, takes {}\n", answer.at("onednn").get<std::string>(),
             answer.at("onednn_isa").get<std::string>());
  fmt::print("threads    {} of {} cores\n", answer.at("threads").get<int>(),
             answer.at("cores").get<int>());
  print_torch(answer.at("torch"));
  fmt::print("\n{}\n", answer.at("ok").get<bool>() ? "All is well." : "Something is wrong.");
}

void run(const Options& options) {
  const Json answer = examine();
  options.json ? print_json(answer) : print_for_people(answer);
  if (!answer.at("ok")) fail("the doctor found something that is not cured; see its answer");
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app,
      {"doctor", "Look around", "The machine, the libraries, and known defects", "soft doctor"});
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
