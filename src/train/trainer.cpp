#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/seconds.h"
#include "model/checkpoint.h"
#include "model/drop.h"
#include "train/batch_input.h"
#include "train/choose.h"
#include "train/health.h"
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
  options.shuffle = plan.run.recipe.shuffle;
  options.workers = request.workers;
  options.rank = request.place.rank;
  options.world = request.place.world;
  return options;
}

Tensor targets_of(const Batch& batch) {
  const auto classes = static_cast<int64_t>(batch.targets.size()) / batch.count;
  return torch::from_blob(const_cast<float*>(batch.targets.data()), {batch.count, classes},
                          torch::kFloat32);
}

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

Trainer::Trainer(Plan plan, const TrainRequest& request, TrainEvents events,
                 std::shared_ptr<Group> group)
    : plan_(std::move(plan)),
      request_(request),
      events_(std::move(events)),
      group_(std::move(group)),
      schedule_(schedule_of(plan_.run.recipe, plan_.run.world)),
      train_loader_(plan_.train, loader_options(plan_, request, true)),
      val_loader_(plan_.val, loader_options(plan_, request, false)),
      states_(request.out + "/state") {
  const Recipe& recipe = plan_.run.recipe;
  torch::manual_seed(recipe.seed);
  model_ = std::make_shared<Classifier>(plan_.run.spec);
  std::optional<State> state;
  if (request_.resume && !request_.dry_run && writes()) {
    lock_ = std::make_unique<RunLock>(request_.out, [this](const auto& text) { notice(text); });
  }
  if (request_.resume && writes()) state = states_.load();
  if (!state && writes()) start_weights();
  model_->set_drop_path(recipe.drop_path, recipe.stochastic_depth);
  model_->set_recompute(recipe.recompute);
  if (plan_.run.freeze) freeze_all_but_head(*model_);
  optimizer_ = std::make_unique<AdamW>(model_->tensors(), recipe);
  if (recipe.ema) {
    average_ = std::make_shared<Classifier>(plan_.run.spec);
    average_->eval();
    ema_ = std::make_unique<Ema>(average_->tensors(), model_->tensors(), recipe);
  }
  torch::manual_seed(recipe.seed);  // what is drawn from here on does not depend on the set-up
  if (state) restore(*state);
  if (group_) join_others();
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
  const int64_t steps = steps_of(plan_);
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
  if (writes()) begin_files();
  last_save_ = Clock::now();
  while (at_.epoch < recipe.epochs && !outcome.interrupted) outcome.interrupted = !train_epoch();
  outcome.rows = at_.rows;
  return outcome;
}

void Trainer::begin_files() {
  enter_folder();
  remove_leftovers(request_.out);
  remove_leftovers(request_.out + "/state");
  write_atomically(request_.out + "/recipe.json",
                   [&](std::ostream& out) { out << to_json(plan_.run).dump(2) << "\n"; });
  catch_up();
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
  waited_before_ = replica_ ? replica_->waited() : 0;
  while (const Batch* batch = train_loader_.next()) {
    train_batch(*batch);
    at_.seconds += seconds_since(std::exchange(before, Clock::now()));
    report_step();
    const bool stop = replica_ ? told_to_stop_ : asked_to_stop();
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
  const bool last = (at_.batch + 1) % accumulate == 0;
  const SampleScope samples({plan_.run.recipe.seed, batch.epoch, batch.positions});
  const Tensor loss = soft_cross_entropy(model_->forward(input_of(batch)), targets_of(batch));
  const double value = loss.item<double>();
  const auto count = static_cast<double>(batch.count);
  count_loss({value * count, count, 0});
  if (replica_ && last) replica_->begin(parts_);
  (loss / accumulate).backward();
  const double lr = current_lr();
  ++at_.batch;
  check_finite("loss", value, lr);
  if (!last) return;
  if (replica_) agree_on(replica_->finish());
  const double norm = global_norm(optimizer_->gradients());
  check_finite("gradient's norm", norm, lr);
  optimizer_->step(lr, clip_factor(norm, plan_.run.recipe.clip));
  ++at_.step;
  if (ema_) ema_->update(at_.step);
}

// Alone it counts at once; in a group when all have told theirs.
void Trainer::count_loss(const StepSums& sums) {
  StepSums& own = parts_;
  own.loss += sums.loss;
  own.samples += sums.samples;
  own.stop = replica_ && asked_to_stop() ? 1 : 0;  // alone, the loop asks itself
  if (!replica_) agree_on(own);
}

void Trainer::agree_on(const StepSums& all) {
  at_.loss_sum += all.loss;
  at_.loss_weight += all.samples;
  told_to_stop_ = all.stop > 0;
  parts_ = {};
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
  report.world = plan_.run.world;
  report.images_per_second = static_cast<double>(recipe.batch * report.world) / per_batch;
  if (replica_) report.waiting = (replica_->waited() - waited_before_) / at_.seconds;
  const int64_t left = (recipe.epochs - at_.epoch) * batches - at_.batch;
  report.seconds_left = per_batch * static_cast<double>(left);
  events_.step(report);
}

void Trainer::notice(const std::string& text) const {
  if (events_.notice) events_.notice(text);
}

}  // namespace soft
