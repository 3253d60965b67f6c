// `soft lra train` and `soft lra eval`.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "cli/clean_stop.h"
#include "cli/command.h"
#include "cli/lra.h"
#include "cli/progress.h"
#include "cli/sequences.h"
#include "cli/train_text.h"
#include "wing/wing.h"

namespace soft {
namespace {

struct LraTrainOptions {
  SequenceTrainRequest request;
  std::string resume;
  bool json = false;
};

void log_run(const Json& run) {
  log("{} with {}, {} steps of {} examples, warm-up {}, lr {}, seed {}",
      run.at("task").get<std::string>(), run.at("model").at("form").get<std::string>(),
      run.at("steps").get<int64_t>(), run.at("batch").get<int64_t>(),
      run.at("warmup").get<int64_t>(), run.at("lr").get<double>(), run.at("seed").get<uint64_t>());
  for (const Json& deviation : run.at("deviations")) {
    log("not as in the protocol: {}", deviation.get<std::string>());
  }
}

SequenceEvents lra_events(const LraTrainOptions& options, ProgressLine& progress) {
  SequenceEvents events;
  events.start = [&options](const Json& run) {
    log_run(run);
    log("writing to {}", options.request.out);
    if (!options.json)
      fmt::print("{:>6}  {:>10}  {:>8}  {:>8}\n", "step", "train loss", "dev loss", "accuracy");
    std::fflush(stdout);
  };
  events.step = [&progress](int64_t step, int64_t steps, double loss, double left) {
    progress.show(
        fmt::format("step {}/{}  loss {:.4f}  {} left", step, steps, loss, duration_text(left)),
        share_of(step, steps));
  };
  events.row = [&](const EpochRow& row) {
    progress.clear();
    if (options.json) return;
    fmt::print("{:>6}  {:>10.4f}  {:>8.4f}  {:>8.2f}\n", row.epoch, row.train_loss, row.val_loss,
               row.top1);
    std::fflush(stdout);
  };
  events.notice = [&progress](const std::string& text) {
    progress.clear();
    log_line(text);
  };
  events.should_stop = asked_to_stop;
  return events;
}

void choose_lra_folder(LraTrainOptions& options) {
  SequenceTrainRequest& request = options.request;
  if (!options.resume.empty()) {
    if (!request.task.empty() || !request.out.empty()) {
      fail_usage("--resume DIR goes on with what is in DIR; leave task and --out away");
    }
    if (request.restart) fail_usage("--restart begins anew and --resume goes on: take one of them");
    request.out = options.resume;
    request.resume = true;
    return;
  }
  if (request.task.empty()) fail_usage("which task? listops, text, retrieval or image");
  if (request.out.empty()) fail_usage("--out DIR is missing: the folder of the run");
}

void print_lra_result(const Json& result) {
  fmt::print("test accuracy {:.2f} % of {} examples (best constant answer {:.2f} %)\n",
             result.at("test_accuracy").get<double>(), result.at("test_examples").get<int64_t>(),
             result.at("best_constant").get<double>());
  fmt::print("weights of step {}, which had {:.2f} % of the development examples right\n",
             result.at("best_step").get<int64_t>(), result.at("dev_accuracy").get<double>());
}

void lra_train(LraTrainOptions options) {
  choose_lra_folder(options);
  options.request.threads = threads();
  stop_cleanly_on_signals();
  ProgressLine progress;
  const SequenceOutcome outcome =
      torch_wing().train_sequences(options.request, lra_events(options, progress));
  progress.clear();
  if (outcome.interrupted) {
    fail("interrupted; `soft lra train --resume {}` goes on from here", options.request.out);
  }
  if (options.json) return print_json(outcome.result);
  print_lra_result(outcome.result);
  log("weights in {0}/best.safetensors, result in {0}/result.json", options.request.out);
}

template <class T>
CLI::Option* add_number(CLI::App* command, const char* flag, std::optional<T>& target,
                        const char* what) {
  return command
      ->add_option_function<T>(
          flag, [&target](const T& value) { target = value; }, what)
      ->type_name("N");
}

void add_lra_model_flags(CLI::App* command, SequenceTrainRequest& request) {
  command->add_option("--attention", request.model.form,
                      "A mechanism, or soft-released (default: soft, in its best form)");
  command->add_option(
      "--landmarks", request.model.landmarks,
      "Of SOFT and Nystromformer: a number (default: 64), or pool4 as in the paper");
  command->add_option("--set", request.model.settings, "key=value of the attention (`soft info`)")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->add_flag("--class-token", request.model.class_token,
                    "Pool by a class token instead of the mean");
  command->add_flag("--black-is-padding", request.black_is_padding,
                    "image: leave black pixels out, as the public protocol does");
}

void add_lra_run_flags(CLI::App* command, SequenceTrainRequest& request) {
  add_number(command, "--steps", request.steps, "Steps (default: the task's)");
  add_number(command, "--batch", request.batch, "Examples a step (default: the task's)");
  add_number(command, "--eval-every", request.eval_every,
             "Steps between evaluations (default: the task's)");
  command->add_option("--lr", request.lr, "Peak learning rate (default: 1e-4)")
      ->check(finite_number())
      ->type_name("X");
  command->add_option("--seed", request.seed, "Seed of everything random (default: 1)")
      ->check(whole_number())
      ->type_name("N");
  command->add_option("--limit-train", request.limit_train, "At most N training examples")
      ->type_name("N");
  command->add_option("--limit-dev", request.limit_dev, "At most N development examples")
      ->type_name("N");
  command->add_option("--limit-test", request.limit_test, "At most N test examples")
      ->type_name("N");
  command->add_option("--save-minutes", request.save_minutes, "Minutes between saved states")
      ->check(finite_number())
      ->check(CLI::PositiveNumber.description(""));
  command->add_option("--save-steps", request.save_steps, "Save a state every N steps, too")
      ->check(whole_number())
      ->type_name("N");
}

}  // namespace

void add_lra_train(CLI::App& lra) {
  auto options = std::make_shared<LraTrainOptions>();
  CLI::App* command = add_command(
      lra, {"train", "Commands", "Train on a task and test once",
            "soft lra train listops --data data/listops --steps 2 --batch 2 --out runs/listops"});
  SequenceTrainRequest& request = options->request;
  command->add_option("task", request.task, "listops, text, retrieval or image");
  command
      ->add_option("--data", request.data,
                   "Folder of the task's files (default: where `soft data list` finds it), or "
                   "text:DIR, tsv:FILE")
      ->type_name("DATA");
  command->add_option("--out", request.out, "Folder of the run")->type_name("DIR");
  command->add_option("--resume", options->resume, "Continue the run in this folder")
      ->type_name("DIR");
  command->add_flag("--restart", request.restart,
                    "Begin anew in --out; a run that is there is moved aside, into before-1");
  add_lra_model_flags(command, request);
  add_lra_run_flags(command, request);
  add_json_flag(command, options->json);
  command->callback([options] { lra_train(*options); });
}

void add_lra_eval(CLI::App& lra) {
  auto options = std::make_shared<SequenceEvalOptions>();
  CLI::App* command = add_command(lra, {"eval", "Commands", "Accuracy of a finished run",
                                        "soft lra eval runs/listops --part dev --limit 10"});
  command->add_option("run", options->model.weights, "Folder of the run, or its weights")
      ->required()
      ->type_name("DIR");
  command->add_option("--data", options->data, "Other data than it was trained on");
  command->add_option("--part", options->part, "train, dev or test (default)")->type_name("NAME");
  command->add_option("--limit", options->limit, "At most N examples")->type_name("N");
  command->add_option("--batch", options->batch, "Examples at a time (default: 32)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  add_json_flag(command, options->json);
  command->callback([options] {
    if (std::filesystem::is_directory(options->model.weights))
      options->model.weights += "/best.safetensors";
    evaluate_sequences(*options);
  });
}

}  // namespace soft
