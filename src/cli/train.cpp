#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/chart_file.h"
#include "cli/clean_stop.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/train_text.h"
#include "rank/place.h"
#include "study/curve.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct TrainOptions {
  TrainRequest request;
  std::string resume;
  bool list_settings = false;
  bool json = false;
};

std::string clock_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

std::string step_text(const StepReport& r) {
  const std::string waiting =
      r.world > 1 ? fmt::format("  {} ranks, {:.0f} % waiting", r.world, 100 * r.waiting) : "";
  return fmt::format("epoch {}/{}  {}/{}  loss {:.4f}  lr {:.2e}  {:.0f} images/s{}  {} left",
                     r.epoch, r.epochs, r.batch, r.batches, r.loss, r.lr, r.images_per_second,
                     waiting, clock_text(r.seconds_left));
}

// top-1 is that of the average where there is one, and `weights` that of the weights themselves.
constexpr const char* kHeading = "{:>5}  {:>10}  {:>8}  {:>6}  {:>7}  {:>6}  {:>8}\n";
constexpr const char* kEpochRow =
    "{:>5}  {:>10.4f}  {:>8.4f}  {:>6.2f}  {:>7.2f}  {:>6.2f}  {:>8.0f}\n";

void print_heading() {
  fmt::print(kHeading, "epoch", "train loss", "val loss", "top-1", "weights", "top-5", "images/s");
  std::fflush(stdout);
}

void print_row(const EpochRow& row) {
  fmt::print(kEpochRow, row.epoch, row.train_loss, row.val_loss, row.top1, row.top1_weights,
             row.top5, row.images_per_second);
  std::fflush(stdout);
}

// How much of the whole run is done.
double share(const StepReport& r) {
  const double epochs = static_cast<double>(r.epoch - 1) +
                        static_cast<double>(r.batch) / static_cast<double>(r.batches);
  return epochs / static_cast<double>(r.epochs);
}

void draw_curve(const std::string& folder) {
  write_chart(folder + "/curve.svg", curve_of(read_text(folder + "/log.csv")));
}

// From the watcher's thread, whatever the others do meanwhile. Files appear whole or not at all, so
// nothing has to be finished first.
void leave_at_once(const std::string& text) {
  log_line(text + "; this rank leaves");
  std::_Exit(1);
}

TrainEvents events_of(const TrainOptions& options, ProgressLine& progress) {
  TrainEvents events;
  events.plan = [&](const Json& plan) {
    for (const std::string& line : plan_lines(plan)) log_line(line);
    log("writing to {}", options.request.out);
    if (!options.json) print_heading();
  };
  events.step = [&](const StepReport& report) { progress.show(step_text(report), share(report)); };
  events.epoch = [&](const EpochRow& row) {
    progress.clear();
    if (!options.json) print_row(row);
    if (!row.health.empty()) log_line(health_text(row.health));
    draw_curve(options.request.out);
  };
  events.notice = [&](const std::string& text) {
    progress.clear();
    log_line(text);
  };
  events.should_stop = asked_to_stop;
  events.lost = leave_at_once;
  return events;
}

void print_dry_run(const TrainOutcome& outcome, bool json) {
  if (json) return print_json(outcome.plan);
  for (const std::string& line : plan_lines(outcome.plan)) fmt::print("{}\n", line);
}

// runs/MODEL-DATA, or with the first number behind it that makes it new.
std::string free_folder(const TrainRequest& request) {
  const size_t colon = request.data.find(':');
  std::filesystem::path data = request.data.substr(colon == std::string::npos ? 0 : colon + 1);
  // "folder:pets/", "tar:pets/train-{000..127}.tar"
  const bool shards = data.string().find_first_of("{*") != std::string::npos;
  if (data.filename().empty() || shards) data = data.parent_path();
  const std::string model = request.model.empty() ? "run" : request.model;
  const std::string wanted = fmt::format("runs/{}-{}", model, data.filename().string());
  std::string folder = wanted;
  std::error_code unknown;  // what is wrong with a name shows when the folder is made
  for (int number = 2; std::filesystem::exists(folder, unknown); ++number) {
    folder = fmt::format("{}-{}", wanted, number);
  }
  return folder;
}

void choose_folder(TrainOptions& options) {
  TrainRequest& request = options.request;
  if (!options.resume.empty()) {
    if (!request.out.empty() && request.out != options.resume) {
      fail_usage("--resume DIR writes to DIR; leave --out away");
    }
    if (request.restart) fail_usage("--restart begins anew and --resume goes on: take one of them");
    request.out = options.resume;
    request.resume = true;
  }
  if (request.out.empty() && !request.dry_run) request.out = free_folder(request);
}

// LibTorch's own words about sockets; ours say the same in a line that people understand.
void hush_torch() {
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  setenv("GLOG_minloglevel", "3", 0);
}

TrainOutcome train(const TrainOptions& options) {
  ProgressLine progress;
  if (options.request.place.grouped) hush_torch();
  if (!options.request.dry_run) stop_cleanly_on_signals();
  return torch_wing().train(options.request, events_of(options, progress));
}

// Rank 0 has said it all.
void end_quietly(const TrainOutcome& outcome) {
  if (outcome.interrupted) fail("interrupted");
}

void run(TrainOptions options) {
  TrainRequest& request = options.request;
  if (options.list_settings) return print_settings(torch_wing().settings(request), options.json);
  request.place = place_of_process();
  choose_folder(options);
  request.threads = threads();
  const TrainOutcome outcome = train(options);
  if (!request.place.first()) return end_quietly(outcome);
  if (request.dry_run) return print_dry_run(outcome, options.json);
  if (outcome.interrupted) {
    fail("interrupted; `soft train --resume {}` goes on from here", request.out);
  }
  draw_curve(request.out);  // a process killed before it could do so left an older one
  if (options.json) print_json(to_json(outcome.rows.back()));
  log("weights in {0}/best.safetensors and last.safetensors, log in log.csv and curve.svg",
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
  command->add_option(
      "--data", request.data,
      "cifar10[:DIR], mnist, fashion-mnist, idx:DIR, folder:DIR, tar:DIR, shapes or cue");
  command->add_option("--model", request.model, "A name from `soft models`");
  command->add_option("--attention", request.attention, "Another mechanism in the same model");
  command
      ->add_option("--set", request.settings,
                   "key=value of the model or the recipe; --list-settings lists them")
      ->allow_extra_args(false)  // otherwise it would swallow the words that follow
      ->type_name("KEY=VALUE");
  command->add_option("--recipe", request.recipe,
                      "released, paper, small, finetune or a stored recipe.json (default: by the "
                      "data; finetune with --init)");
  add_optional(command, "--init", request.init, "Weights to start from", "FILE");
  command->add_flag_callback(
      "--freeze", [&request] { request.freeze = true; }, "Train the head alone (linear probing)");
}

void add_how(CLI::App* command, TrainRequest& request) {
  add_optional(command, "--epochs", request.epochs, "Epochs", "N");
  add_optional(command, "--batch", request.batch, "Pictures per step, on each rank", "N");
  add_optional(command, "--lr", request.lr, "Peak learning rate (default: from the batch)", "X")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""));
  add_optional(command, "--seed", request.seed, "Seed of everything random", "N")
      ->check(whole_number());
  add_optional(command, "--limit-train", request.limit_train, "At most N training pictures", "N");
  add_optional(command, "--limit-val", request.limit_val, "At most N validation pictures", "N");
  add_optional(command, "--val-fraction", request.val_fraction,
               "Part of the training pictures to validate with (default: 0.1 of a folder without "
               "val/ and of shards without val-*.tar)",
               "X")
      ->check(finite_number());
  command->add_flag_callback(
      "--strict", [&request] { request.strict = true; },
      "Take every file of a folder for a picture, also one that does not look like one");
  command->add_option("--workers", request.workers, "Threads that prepare batches")
      ->check(CLI::Range(1, 64).description(""));
  command->add_option("--save-minutes", request.save_minutes, "Minutes between saved states")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""));
  command->add_option("--save-steps", request.save_steps, "Save a state every N steps, too")
      ->check(whole_number())
      ->type_name("N");
  command
      ->add_option("--group-timeout", request.group_timeout,
                   "Seconds after which a rank that is not heard of is lost")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("X");
}

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = add_command(
      app, {"train", "Training", "Train a model on pictures",
            "soft train --data shapes --model soft-pico --limit-train 64 --limit-val 64\n"
            "soft train --resume runs/soft-pico-shapes"});
  add_what(command, options->request);
  add_how(command, options->request);
  command
      ->add_option("--out", options->request.out,
                   "Folder for weights, states and log (default: runs/MODEL-DATA)")
      ->type_name("DIR");
  command->add_option("--resume", options->resume, "Continue the run in this folder")
      ->type_name("DIR");
  command->add_flag("--restart", options->request.restart,
                    "Begin anew in --out; a run that is there is moved aside, into before-1");
  command->add_flag("--allow-change", options->request.allow_change,
                    "Resume although options differ from the stored ones");
  command->add_flag("--dry-run", options->request.dry_run,
                    "Say what would be done and what it would take, and leave");
  command->add_flag("--list-settings", options->list_settings,
                    "List every key of --set with its value for --model and --recipe, and leave");
  add_json_flag(command, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace soft
