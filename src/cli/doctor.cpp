#include <fmt/ranges.h>

#include <memory>

#include "base/error.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kernels/machine.h"
#include "soft/version.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct DoctorOptions {
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

// "label      text", wrapped beside its label.
void print_fact(const char* label, const std::string& text) {
  constexpr size_t kLabel = 11;
  fmt::print("{}\n", wrapped(fmt::format("{:<{}}{}", label, kLabel, shown(text)), kLabel));
}

void print_torch(const Json& torch) {
  if (!torch.at("present")) {
    return print_fact("LibTorch", "not in this build (training and --engine torch need it)");
  }
  if (torch.contains("error")) return print_fact("LibTorch", torch.at("error"));
  const auto text = [&](const char* key) { return torch.value(key, "unknown"); };
  print_fact("LibTorch", fmt::format("{}, {} kernels", text("libtorch"), text("capability")));
  print_fact("BLAS", fmt::format("{} ({})", text("blas"), text("blas_library")));
  for (const Json& defect : torch.value("defects", Json::array())) {
    const bool found = defect.at("found");
    print_fact("defect", fmt::format("{}: {}", defect.at("name").get<std::string>(),
                                     found ? "found; " + defect.at("cure").get<std::string>()
                                           : "not in this LibTorch"));
  }
}

void print_for_people(const Json& answer) {
  const auto text = [&](const char* key) { return answer.at(key).get<std::string>(); };
  print_fact("soft", SOFT_VERSION);
  print_fact("CPU", text("cpu"));
  print_fact("vectors",
             fmt::format("{}", fmt::join(answer.at("isa").get<std::vector<std::string>>(), " ")));
  print_fact("kernels", "Highway takes " + text("highway"));
  print_fact("oneDNN", fmt::format("{}, takes {}", text("onednn"), text("onednn_isa")));
  print_fact("threads", fmt::format("{} of {} cores", answer.at("threads").get<int>(),
                                    answer.at("cores").get<int>()));
  print_torch(answer.at("torch"));
  fmt::print("\n{}\n", answer.at("ok").get<bool>() ? "All is well." : "Something is wrong.");
}

void run(const DoctorOptions& options) {
  const Json answer = examine();
  options.json ? print_json(answer) : print_for_people(answer);
  if (!answer.at("ok")) fail("the doctor found something that is not cured; see its answer");
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = add_command(
      app,
      {"doctor", "Look around", "The machine, the libraries, and known defects", "soft doctor"});
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
