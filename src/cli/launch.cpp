// `soft launch`: several processes of `soft train` on this machine, as one of several machines.
#include "rank/launch.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/setting.h"
#include "cli/cli.h"
#include "cli/command.h"

namespace soft {
namespace {

struct LaunchOptions {
  LaunchRequest request;
  std::string master;
  std::vector<std::string> words;  // `train …`
};

// The value of a flag among the words; "" when it is not there.
std::string value_of(const std::vector<std::string>& words, const std::string& flag) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
    if (words[i].rfind(flag + "=", 0) == 0) return words[i].substr(flag.size() + 1);
  }
  return "";
}

bool holds_run(const std::string& folder) {
  std::error_code unknown;
  return std::filesystem::exists(folder + "/recipe.json", unknown);
}

// The same words with --resume in the place of --out.
std::vector<std::string> resuming(const std::vector<std::string>& words) {
  std::vector<std::string> changed;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--out") {
      changed.emplace_back("--resume");
    } else if (words[i].rfind("--out=", 0) == 0) {
      changed.push_back("--resume=" + words[i].substr(6));
    } else {
      changed.push_back(words[i]);
    }
  }
  return changed;
}

// What each attempt runs. A run that was there before the first one is not ours to go on with.
std::function<std::vector<std::string>(int)> arguments_of(const std::vector<std::string>& words) {
  const std::string folder = value_of(words, "--out");
  const bool resumes = !value_of(words, "--resume").empty();
  if (words.front() != "train") {
    return [words](int attempt) { return attempt == 0 ? words : std::vector<std::string>(); };
  }
  if (folder.empty() && !resumes) {
    fail_usage(
        "`soft launch … -- train` needs --out DIR or --resume DIR: all ranks and restarts "
        "must mean the same folder");
  }
  const bool old = !resumes && holds_run(folder);
  return [=](int attempt) -> std::vector<std::string> {
    if (attempt == 0 || resumes) return words;
    if (old) return {};
    return holds_run(folder) ? resuming(words) : words;
  };
}

void read_master(LaunchOptions& options) {
  LaunchRequest& request = options.request;
  if (options.master.empty()) {
    if (request.nodes > 1) {
      fail_usage("--nodes {} needs --master HOST:PORT, the same on all of them", request.nodes);
    }
    return;
  }
  const size_t colon = options.master.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    fail_usage("--master '{}' is not HOST:PORT", options.master);
  }
  request.master = options.master.substr(0, colon);
  request.port = parse_whole<int>("--master's port", options.master.substr(colon + 1));
  if (request.port < 1 || request.port > 65535) {
    fail_usage("--master '{}': a port is 1 to 65535", options.master);
  }
}

// Results are rank 0's. What another rank complains of, and nobody has before it, has its number in
// front.
LaunchEvents printing() {
  const auto said = std::make_shared<std::set<std::string>>();
  LaunchEvents events;
  events.line = [said](int rank, bool error, const std::string& line) {
    const bool news = said->insert(line).second;
    if (rank != 0 && (!error || !news)) return;
    if (said->size() > 10'000) said->clear();
    std::FILE* stream = error ? stderr : stdout;
    const std::string text = rank == 0 ? line + "\n" : fmt::format("[rank {}] {}\n", rank, line);
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  };
  events.notice = [](const std::string& text) { log_line(text); };
  return events;
}

void run(LaunchOptions& options) {
  LaunchRequest& request = options.request;
  if (options.words.empty()) {
    fail_usage("nothing to start; e.g. `soft launch -n 2 -- train --data shapes …`");
  }
  if (request.node >= request.nodes) {
    fail_usage("--node-rank {} of {} nodes does not exist; they count from 0", request.node,
               request.nodes);
  }
  read_master(options);
  request.program = std::filesystem::read_symlink("/proc/self/exe").string();
  request.arguments = arguments_of(options.words);
  const LaunchOutcome outcome = launch(request, printing());
  if (outcome.code == 0) return;
  if (outcome.interrupted) fail("interrupted");
  if (outcome.code == 2) fail_usage("{}", outcome.why);
  fail("{}", outcome.why);
}

}  // namespace

void add_launch(CLI::App& app) {
  auto options = std::make_shared<LaunchOptions>();
  LaunchRequest& request = options->request;
  CLI::App* command = add_command(
      app, {"launch", "Training", "Train with several processes, here and on other machines",
            "soft launch -n 2 -- train --data shapes --model soft-pico --dry-run --out two"});
  command->add_option("-n,--ranks", request.ranks, "Processes on this machine")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command->add_option("--nodes", request.nodes, "Machines, each with as many processes")
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("K");
  command->add_option("--node-rank", request.node, "Which of them this is, from 0")
      ->check(CLI::Range(0, 65535).description(""))
      ->type_name("R");
  command->add_option("--master", options->master, "Where rank 0 is (default: here)")
      ->type_name("HOST:PORT");
  command
      ->add_option("--restarts", request.restarts,
                   "How often all start again from the last state when one dies")
      ->check(CLI::Range(0, 1'000'000).description(""))
      ->type_name("N");
  command->add_option("command", options->words, "What each runs, behind --: train …");
  command->callback([options] { run(*options); });
}

}  // namespace soft
