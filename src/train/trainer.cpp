#include "train/trainer.h"

#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "model/checkpoint.h"
#include "train/choose.h"
#include "train/init.h"
#include "train/loss.h"
#include "train/run_folder.h"

namespace soft {
namespace {

using torch::Tensor;

LoaderOptions loader_options(const Plan& plan, const TrainRequest& request, bool training) {
  LoaderOptions options;
  options.batch = plan.run.recipe.batch;
  options.training = training;
  options.augmentation = plan.run.recipe.augmentation;
  options.preprocessing = plan.preprocessing;
  options.seed = plan.run.recipe.seed;
  options.workers = request.workers;
  return options;
}

// A view of the batch's pixels; the batch outlives the step.
Tensor pixels_of(const Batch& batch) {
  return torch::from_blob(const_cast<float*>(batch.pixels.data()),
                          {batch.count, 3, batch.size, batch.size}, torch::kFloat32);
}

Tensor targets_of(const Batch& batch) {
  const auto classes = static_cast<int64_t>(batch.targets.size()) / batch.count;
  return torch::from_blob(const_cast<float*>(batch.targets.data()), {batch.count, classes},
                          torch::kFloat32);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Stopped : std::exception {};  // asked to leave in the middle of an evaluation

std::string first_non_finite(Classifier& model) {
  for (const auto& item : model.named_parameters()) {
    const Tensor& gradient = item.value().grad();
    if (!torch::isfinite(item.value()).all().item<bool>()) return item.key();
    if (gradient.defined() && !torch::isfinite(gradient).all().item<bool>()) {
      return "gradient of " + item.key();
    }
  }
  return "none";
}

}  // namespace

Trainer::Trainer(Plan plan, const TrainRequest& request, TrainEvents events, Reduce reduce)
    : plan_(std::move(plan)),
      request_(request),
      events_(std::move(events)),
      reduce_(std::move(reduce)),
      schedule_(schedule_of(plan_.run.recipe)),
      train_loader_(plan_.train, loader_options(plan_, request, true)),
      val_loader_(plan_.val, loader_options(plan_, request, false)),
      states_(request.out + "/state") {
  const Recipe& recipe = plan_.run.recipe;
  torch::manual_seed(recipe.seed);
  model_ = std::make_shared<Classifier>(plan_.run.spec);
  std::optional<State> state;
  if (request_.resume && !request_.dry_run) {
    lock_ = std::make_unique<RunLock>(request_.out, [this](const auto& text) { notice(text); });
  }
  if (request_.resume) state = states_.load();
  if (!state) start_weights();
  model_->set_drop_path(recipe.drop_path, recipe.stochastic_depth);
  if (plan_.run.freeze) freeze_all_but_head(*model_);
  optimizer_ = std::make_unique<AdamW>(*model_, recipe);
  if (recipe.ema) {
    average_ = std::make_shared<Classifier>(plan_.run.spec);
    average_->eval();
    ema_ = std::make_unique<Ema>(*average_, *model_, recipe);
  }
  torch::manual_seed(recipe.seed);  // what is drawn from here on does not depend on the set-up
  if (state) restore(*state);
}

void Trainer::start_weights() {
  if (request_.resume) {
    check_nothing_to_lose(request_.out);
    notice("no state in '" + request_.out + "' yet; starting from the beginning");
  }
  if (plan_.run.init.empty()) return;
  for (const std::string& note : initialise_from(*model_, read_weights(plan_.run.init)))
    notice(note);
}

// The average is what is evaluated and saved. On a short run a slow one is still the random start.
void Trainer::warn_of_slow_average() const {
  const int64_t steps = steps_of(plan_.run.recipe, plan_.train.size());
  const double left = first_weights_left(plan_.run.recipe, steps);
  if (left < 0.1) return;
  notice(
      fmt::format("after the last of {} steps {:.0f} % of the first weights will still be in the "
                  "EMA, which is evaluated and saved; --set ema_warmup=on avoids it",
                  steps, 100 * left));
}

TrainOutcome Trainer::run() {
  const Recipe& recipe = plan_.run.recipe;
  TrainOutcome outcome;
  outcome.plan = describe(plan_);
  if (events_.plan) events_.plan(outcome.plan);
  if (schedule_.floor_lowered) {
    notice(fmt::format("lr {:.2e} is below min_lr {:.2e}: the floor becomes the lr itself",
                       schedule_.peak, recipe.min_lr));
  }
  warn_of_slow_average();
  enter_folder();
  remove_leftovers(request_.out);
  remove_leftovers(request_.out + "/state");
  write_atomically(request_.out + "/recipe.json",
                   [&](std::ostream& out) { out << to_json(plan_.run).dump(2) << "\n"; });
  last_save_ = Clock::now();
  catch_up();
  while (at_.epoch < recipe.epochs && !outcome.interrupted) outcome.interrupted = !train_epoch();
  outcome.rows = at_.rows;
  return outcome;
}

// A resumed run has its lock already, taken before it read its state.
void Trainer::enter_folder() {
  make_folder(request_.out);
  if (lock_) return;
  lock_ = std::make_unique<RunLock>(request_.out, [this](const auto& text) { notice(text); });
  if (!request_.restart) return check_unused(request_.out);  // another may have begun meanwhile
  const std::string place = set_aside(request_.out);
  if (!place.empty()) notice("what was in '" + request_.out + "' is now in '" + place + "'");
}

bool Trainer::train_epoch() {
  // A frozen body keeps its running statistics, too.
  model_->train(!plan_.run.freeze);
  auto before = Clock::now();
  train_loader_.start(at_.epoch, at_.batch);
  while (const Batch* batch = train_loader_.next()) {
    train_batch(*batch);
    at_.seconds += seconds_since(std::exchange(before, Clock::now()));
    report_step();
    const bool stop = asked_to_stop();
    const bool due = seconds_since(last_save_) > 60 * request_.save_minutes ||
                     (request_.save_steps > 0 && at_.step % request_.save_steps == 0);
    const bool between_steps = at_.batch % plan_.run.recipe.accumulate == 0;
    if (between_steps && (stop || due)) save_state();
    if (between_steps && stop) return false;
  }
  return finish_epoch();
}

void Trainer::train_batch(const Batch& batch) {
  const int accumulate = plan_.run.recipe.accumulate;
  if (at_.batch % accumulate == 0) {
    optimizer_->zero_grad();
    model_->start_step(at_.step);
  }
  const Tensor loss = soft_cross_entropy(model_->forward(pixels_of(batch)), targets_of(batch));
  const double value = loss.item<double>();
  (loss / accumulate).backward();
  at_.loss_sum += value * static_cast<double>(batch.count);
  at_.loss_weight += static_cast<double>(batch.count);
  const double lr = current_lr();
  ++at_.batch;
  check_finite("loss", value, lr);
  if (at_.batch % accumulate != 0) return;
  const auto gradients = optimizer_->gradients();
  if (reduce_) reduce_(gradients);
  check_finite("gradient's norm", clip_gradients(gradients, plan_.run.recipe.clip), lr);
  optimizer_->step(lr);
  ++at_.step;
  if (ema_) ema_->update(at_.step);
}

void Trainer::check_finite(const char* what, double value, double lr) {
  if (std::isfinite(value)) return;
  const std::string state = states_.newest();
  fail(
      "the {} is {} at epoch {}, step {}, lr {:.3e}; first bad tensor: {}; last good state: {}. "
      "Try a lower --lr, or --set clip=1",
      what, value, at_.epoch + 1, at_.step, lr, first_non_finite(*model_),
      state.empty() ? "none yet" : state);
}

double Trainer::current_lr() const {
  const double fraction =
      static_cast<double>(at_.batch) / static_cast<double>(train_loader_.batches());
  return learning_rate(plan_.run.recipe, schedule_, at_.epoch, fraction);
}

void Trainer::report_step() {
  if (!events_.step) return;
  const Recipe& recipe = plan_.run.recipe;
  const double per_batch = at_.seconds / static_cast<double>(at_.batch);
  const int64_t batches = train_loader_.batches();
  StepReport report;
  report.epoch = at_.epoch + 1;
  report.epochs = recipe.epochs;
  report.batch = at_.batch;
  report.batches = batches;
  report.loss = at_.loss_sum / at_.loss_weight;
  report.lr = current_lr();
  report.images_per_second = static_cast<double>(recipe.batch) / per_batch;
  const int64_t left = (recipe.epochs - at_.epoch) * batches - at_.batch;
  report.seconds_left = per_batch * static_cast<double>(left);
  events_.step(report);
}

bool Trainer::finish_epoch() {
  EpochRow row;
  row.epoch = at_.epoch + 1;
  row.lr = learning_rate(plan_.run.recipe, schedule_, at_.epoch, 1);
  row.train_loss = at_.loss_sum / at_.loss_weight;
  row.seconds = at_.seconds;
  row.images_per_second = at_.loss_weight / at_.seconds;
  Evaluation evaluation;
  try {
    evaluation = evaluate_with(val_loader_, evaluated());
    row.top1_weights = average_ ? evaluate_with(val_loader_, *model_).top1 : evaluation.top1;
  } catch (const Stopped&) {
    save_state();  // all steps of the epoch are made; a resumed run evaluates again
    return false;
  }
  check_finite("validation loss", evaluation.loss, row.lr);
  if (average_) row.top1_ema = evaluation.top1;
  row.val_loss = evaluation.loss;
  row.top1 = evaluation.top1;
  row.top5 = evaluation.top5;
  const double chance = std::log(static_cast<double>(plan_.run.spec.classes));
  if (std::abs(row.train_loss - chance) < 0.01 * chance && plan_.run.spec.classes > 1) {
    notice(
        fmt::format("the loss {:.4f} is still that of guessing, ln({}) = {:.4f}: check the labels "
                    "and the learning rate",
                    row.train_loss, plan_.run.spec.classes, chance));
  }
  at_.rows.push_back(row);
  ++at_.epoch;
  at_.batch = 0;
  at_.loss_sum = at_.loss_weight = at_.seconds = 0;
  save_state();
  save_epoch();
  if (events_.epoch) events_.epoch(row);
  return true;
}

Classifier& Trainer::evaluated() { return average_ ? *average_ : *model_; }

Evaluation Trainer::evaluate_with(Loader& loader, Classifier& model) const {
  model.eval();
  const auto logits = [&](const Batch& batch) {
    if (asked_to_stop()) throw Stopped();
    const torch::NoGradGuard no_grad;
    const Tensor output = model.forward(pixels_of(batch)).contiguous();
    return std::vector<float>(output.data_ptr<float>(), output.data_ptr<float>() + output.numel());
  };
  return evaluate(loader, logits);
}

void Trainer::notice(const std::string& text) const {
  if (events_.notice) events_.notice(text);
}

}  // namespace soft
