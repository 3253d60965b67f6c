#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/chart_file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "study/curve.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct Options {
  TrainRequest request;
  std::string resume;
  bool json = false;
};

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C asks for a clean stop; a second one ends the program at once.
void on_interrupt(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

std::string step_text(const StepReport& r) {
  return fmt::format("epoch {}/{}  {}/{}  loss {:.4f}  lr {:.2e}  {:.0f} images/s  {} left",
                     r.epoch, r.epochs, r.batch, r.batches, r.loss, r.lr, r.images_per_second,
                     clock_text(r.seconds_left));
}

void print_plan(const Json& plan) {
  log("{} ({} parameters) on {}: {} + {} pictures at {} px, {} classes",
      plan["model"].get<std::string>(), plan["params"].get<int64_t>(),
      plan["data"].get<std::string>(), plan["train_images"].get<int64_t>(),
      plan["val_images"].get<int64_t>(), plan["image_size"].get<int>(), plan["classes"].get<int>());
  log("{} epochs of batch {}, lr {:.3e} to {:.1e}, EMA {}, {:.1f} TMACs in all",
      plan["epochs"].get<int>(), plan["batch"].get<int64_t>(), plan["lr"].get<double>(),
      plan["min_lr"].get<double>(), plan["ema"].get<std::string>(),
      plan["total_macs"].get<double>() / 1e12);
}

constexpr const char* kHeading = "{:>5}  {:>10}  {:>8}  {:>6}  {:>6}  {:>8}\n";
constexpr const char* kRow = "{:>5}  {:>10.4f}  {:>8.4f}  {:>6.2f}  {:>6.2f}  {:>8.0f}\n";

void print_row(const EpochRow& row) {
  fmt::print(kRow, row.epoch, row.train_loss, row.val_loss, row.top1, row.top5,
             row.images_per_second);
  std::fflush(stdout);
}

TrainEvents events_of(const Options& options, ProgressLine& progress) {
  TrainEvents events;
  events.plan = [&](const Json& plan) {
    if (options.request.dry_run) return;
    print_plan(plan);
    if (!options.json) {
      fmt::print(kHeading, "epoch", "train loss", "val loss", "top-1", "top-5", "images/s");
      std::fflush(stdout);
    }
  };
  events.step = [&](const StepReport& report) { progress.show(step_text(report)); };
  events.epoch = [&](const EpochRow& row) {
    progress.clear();
    if (!options.json) print_row(row);
    const std::string& folder = options.request.out;
    write_chart(folder + "/curve.svg", curve_of(read_text(folder + "/log.csv")));
  };
  events.notice = [&](const std::string& text) {
    progress.clear();
    log_line(text);
  };
  events.should_stop = [] { return interrupted != 0; };
  return events;
}

void print_dry_run(const TrainOutcome& outcome, bool json) {
  if (json) {
    print_json(outcome.plan);
  } else {
    fmt::print("{}\n", outcome.plan.dump(2));
  }
}

void run(Options options) {
  TrainRequest& request = options.request;
  if (!options.resume.empty()) {
    if (!request.out.empty() && request.out != options.resume) {
      fail_usage("--resume DIR writes to DIR; leave --out away");
    }
    request.out = options.resume;
    request.resume = true;
  }
  if (request.out.empty() && !request.dry_run) fail_usage("--out DIR is missing: where to write");
  request.threads = threads();
  ProgressLine progress;
  std::signal(SIGINT, on_interrupt);
  const TrainOutcome outcome = torch_wing().train(request, events_of(options, progress));
  std::signal(SIGINT, SIG_DFL);
  progress.clear();
  if (request.dry_run) return print_dry_run(outcome, options.json);
  if (outcome.interrupted) {
    fail("interrupted; `soft train --resume {}` goes on from here", request.out);
  }
  if (options.json) print_json(to_json(outcome.rows.back()));
  log("weights in {0}/best.safetensors and {0}/last.safetensors, log in {0}/log.csv and curve.svg",
      request.out);
}

template <class T>
CLI::Option* add_optional(CLI::App* command, const char* flag, std::optional<T>& target,
                          const char* what, const char* type) {
  return command
      ->add_option_function<T>(
          flag, [&target](const T& value) { target = value; }, what)
      ->type_name(type);
}

void add_what(CLI::App* command, TrainRequest& request) {
  command->add_option("--data", request.data,
                      "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, folder:DIR or shapes");
  command->add_option("--model", request.model, "A name from `soft models`");
  command->add_option("--attention", request.attention, "Another mechanism in the same model");
  command->add_option("--set", request.settings, "key=value of the model or the recipe")
      ->allow_extra_args(false)  // otherwise it would swallow the words that follow
      ->type_name("KEY=VALUE");
  command->add_option("--recipe", request.recipe,
                      "released (default), paper, small or recipe.json");
  add_optional(command, "--init", request.init, "Weights to start from", "FILE");
  command->add_flag_callback(
      "--freeze", [&request] { request.freeze = true; }, "Train the head alone (linear probing)");
}

void add_how(CLI::App* command, TrainRequest& request) {
  add_optional(command, "--epochs", request.epochs, "Epochs", "N");
  add_optional(command, "--batch", request.batch, "Pictures per step", "N");
  add_optional(command, "--lr", request.lr, "Peak learning rate (default: from the batch)", "X")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""));
  add_optional(command, "--seed", request.seed, "Seed of everything random", "N")
      ->check(whole_number());
  add_optional(command, "--limit-train", request.limit_train, "At most N training pictures", "N");
  add_optional(command, "--limit-val", request.limit_val, "At most N validation pictures", "N");
  command->add_option("--workers", request.workers, "Threads that prepare batches")
      ->check(CLI::Range(1, 64).description(""));
  command->add_option("--save-minutes", request.save_minutes, "Minutes between saved states")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""));
  command->add_option("--save-steps", request.save_steps, "Save a state every N steps, too")
      ->check(whole_number())
      ->type_name("N");
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app,
      {"train", "Training", "Train a model on pictures",
       "soft train --data shapes --model soft-nano --recipe small --epochs 1 --limit-train 256 "
       "--limit-val 64 --out runs/shapes\n"
       "soft train --resume runs/shapes"});
  add_what(command, options->request);
  add_how(command, options->request);
  command->add_option("--out", options->request.out, "Folder for weights, states and log")
      ->type_name("DIR");
  command->add_option("--resume", options->resume, "Continue the run in this folder")
      ->type_name("DIR");
  command->add_flag("--allow-change", options->request.allow_change,
                    "Resume although options differ from the stored ones");
  command->add_flag("--dry-run", options->request.dry_run, "Say what would be done, and leave");
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
