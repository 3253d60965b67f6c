#include "train/sequence_trainer.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/seconds.h"
#include "describe/cost.h"
#include "metric/tally.h"
#include "model/checkpoint.h"
#include "train/run_folder.h"
#include "weights/sequence_card.h"

namespace soft {
namespace {

using torch::Tensor;

PackedSequences packed(const SequenceBatch& batch) {
  return pack(batch.tokens.data(), batch.sides * batch.count, batch.length, batch.sides);
}

Recipe optimizer_recipe() {
  Recipe recipe;
  recipe.beta1 = 0.95;  // moved by the schedule
  recipe.beta2 = 0.999;
  recipe.eps = 1e-6;
  recipe.weight_decay = 0;
  recipe.layer_decay = 1;
  return recipe;
}

SequenceRun run_of(const SequenceTrainRequest& request) {
  return request.resume ? read_sequence_run(request.out + "/recipe.json") : make_run(request);
}

// The most memory that the process has had.
int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

const EpochRow& best_of(const std::vector<EpochRow>& rows) {  // the first of equals
  return *std::max_element(rows.begin(), rows.end(),
                           [](const EpochRow& a, const EpochRow& b) { return a.top1 < b.top1; });
}

}  // namespace

std::optional<SequenceScore> score(SequenceModel& model, const SequenceSet& set, int64_t batch_size,
                                   const std::function<bool()>& stop) {
  const torch::NoGradGuard no_grad;
  const bool trained = model.is_training();
  model.eval();
  SequenceLoader loader(set, {batch_size, false, 0});
  loader.start(0);
  Tally tally(model.spec().frame.classes);
  bool stopped = false;
  for (SequenceBatch batch; !stopped && loader.next(batch);) {
    stopped = stop && stop();
    const Tensor logits = model.forward(packed(batch)).contiguous();
    for (int64_t i = 0; i < batch.count; ++i) {
      tally.add(logits.data_ptr<float>() + i * logits.size(1), batch.labels[i]);
    }
  }
  model.train(trained);
  if (stopped) return std::nullopt;
  return SequenceScore{tally.top1(), tally.loss(), tally.images()};
}

SequenceTrainer::SequenceTrainer(const SequenceTrainRequest& request, SequenceEvents events)
    : request_(request),
      events_(std::move(events)),
      lock_(request.resume
                ? std::make_unique<RunLock>(request.out, [this](const auto& t) { notice(t); })
                : nullptr),
      run_(run_of(request)),
      sets_(open_sets(run_)),
      loader_(sets_.train, {run_.batch, true, run_.seed}),
      states_(request.out + "/state") {
  torch::manual_seed(run_.seed);
  model_ = std::make_shared<SequenceModel>(run_.spec);
  optimizer_ = std::make_unique<AdamW>(model_->tensors(), optimizer_recipe());
  torch::manual_seed(run_.seed);  // what is drawn from here on does not depend on the set-up
  if (!request.resume) return;
  if (const auto state = states_.load()) {
    restore(*state);
  } else {
    check_nothing_to_lose(request.out, kSequenceCommand);
    notice("no state in '" + request.out + "' yet; starting from the beginning");
  }
}

void SequenceTrainer::begin() {
  make_folder(request_.out);
  if (lock_) return;
  lock_ = std::make_unique<RunLock>(request_.out, [this](const auto& text) { notice(text); });
  if (!request_.restart) check_unused(request_.out, kSequenceCommand);
  const std::string place = set_aside(request_.out);
  if (!place.empty()) notice("what was in '" + request_.out + "' is now in '" + place + "'");
  write_atomically(request_.out + "/recipe.json",
                   [&](std::ostream& out) { out << to_json(run_).dump(2) << "\n"; });
}

void SequenceTrainer::restore(const State& state) {
  const torch::NoGradGuard no_grad;
  const auto copy = [&](const std::string& name, const Tensor& target) {
    const auto found = state.tensors.find(name);
    if (found == state.tensors.end() || found->second.sizes() != target.sizes()) {
      fail("the state in '{}' has no fitting '{}'", request_.out, name);
    }
    target.copy_(found->second);
  };
  for (const ModelTensor& own : model_->tensors()) copy("model." + own.name, own.tensor);
  for (Slot& slot : optimizer_->slots()) {
    copy("mean." + slot.name, slot.mean);
    copy("square." + slot.name, slot.square);
  }
  at_ = state.position;
  optimizer_->set_steps(at_.step);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(state.tensors.at("generator"));
}

void SequenceTrainer::save_state() {
  lock_->check();
  State state;
  state.position = at_;
  state.position.batches = loader_.batches();
  for (const ModelTensor& own : model_->tensors()) state.tensors["model." + own.name] = own.tensor;
  for (const Slot& slot : optimizer_->slots()) {
    state.tensors["mean." + slot.name] = slot.mean;
    state.tensors["square." + slot.name] = slot.square;
  }
  state.tensors["generator"] = at::detail::getDefaultCPUGenerator().get_state();
  states_.save(state);
  last_save_ = Clock::now();
}

SequenceOutcome SequenceTrainer::run() {
  SequenceOutcome outcome;
  begin();
  if (events_.start) events_.start(to_json(run_));
  remove_leftovers(request_.out);
  remove_leftovers(request_.out + "/state");
  last_save_ = Clock::now();
  if (!at_.rows.empty()) write_files();  // a process killed behind its state left these behind
  outcome.interrupted = !train() || !finish(outcome);
  return outcome;
}

bool SequenceTrainer::train() {
  model_->train();
  SequenceBatch batch;
  loader_.start(at_.epoch, at_.batch);
  while (at_.step < run_.cycle.steps) {
    // A run that was stopped within an evaluation makes it before it goes on.
    if (at_.step > 0 && at_.step % run_.eval_every == 0 &&
        (at_.rows.empty() || at_.rows.back().epoch < at_.step) && !evaluate_now()) {
      return false;
    }
    const auto before = Clock::now();
    if (!loader_.next(batch)) {
      at_.batch = 0;
      loader_.start(++at_.epoch, 0);
      loader_.next(batch);
    }
    at_.loss_sum += train_batch(batch);
    at_.loss_weight += 1;
    ++at_.batch;
    ++at_.step;
    at_.seconds += seconds_since(before);
    report_step();
    const bool stop = asked_to_stop();
    if (stop || seconds_since(last_save_) > 60 * request_.save_minutes ||
        (request_.save_steps > 0 && at_.step % request_.save_steps == 0)) {
      save_state();
    }
    if (stop) return false;
  }
  return (!at_.rows.empty() && at_.rows.back().epoch == at_.step) || evaluate_now();
}

double SequenceTrainer::train_batch(const SequenceBatch& batch) {
  optimizer_->zero_grad();
  model_->start_step(at_.step);
  const Tensor labels = torch::tensor(batch.labels, torch::kInt64);
  const Tensor loss =
      torch::nll_loss(torch::log_softmax(model_->forward(packed(batch)), -1), labels);
  const double value = loss.item<double>();
  const Pace pace = pace_at(run_.cycle, at_.step);
  if (!std::isfinite(value)) {
    fail("the loss is {} at step {}, lr {:.3e}; try a lower --lr", value, at_.step, pace.lr);
  }
  loss.backward();
  optimizer_->set_beta1(pace.beta1);
  optimizer_->step(pace.lr);
  return value;
}

void SequenceTrainer::report_step() const {
  if (!events_.step) return;
  const double a_step = at_.seconds / static_cast<double>(at_.step);
  events_.step(at_.step, run_.cycle.steps, at_.loss_sum / at_.loss_weight,
               a_step * static_cast<double>(run_.cycle.steps - at_.step));
}

bool SequenceTrainer::evaluate_now() {
  const auto result = score(*model_, sets_.dev, run_.batch, [this] { return asked_to_stop(); });
  if (!result) {
    save_state();  // a resumed run evaluates again
    return false;
  }
  EpochRow row;
  row.epoch = at_.step;
  row.train_loss = at_.loss_sum / at_.loss_weight;
  row.val_loss = result->loss;
  row.top1 = row.top1_weights = result->top1;
  row.lr = pace_at(run_.cycle, at_.step - 1).lr;
  row.seconds = at_.seconds;
  row.images_per_second =
      static_cast<double>(at_.step) * static_cast<double>(run_.batch) / at_.seconds;
  at_.rows.push_back(row);
  at_.loss_sum = at_.loss_weight = 0;
  save_state();
  write_files();
  if (events_.row) events_.row(row);
  return true;
}

// The state is written before them, and they follow from it. Only the state of an evaluation has
// the weights of its row; behind it they were written before.
void SequenceTrainer::write_files() const {
  lock_->check();
  const EpochRow& row = at_.rows.back();
  if (row.epoch == at_.step && &best_of(at_.rows) == &row) save_best(row);
  write_log();
}

void SequenceTrainer::save_best(const EpochRow& row) const {
  SequenceCard card{run_.spec, sets_.train.classes, run_.data, run_.cut, run_.task};
  Json json = to_json(card);
  json["step"] = row.epoch;
  json["dev"] = row.top1;
  write_safetensors(request_.out + "/best.safetensors", weights_of(*model_),
                    {{kSequenceKey, json.dump()}});
}

void SequenceTrainer::write_log() const {
  write_atomically(request_.out + "/log.csv", [&](std::ostream& out) {
    out << "step,train_loss,dev_loss,dev_accuracy,lr,seconds\n";
    for (const EpochRow& row : at_.rows) {
      out << fmt::format("{},{:.6f},{:.6f},{:.4f},{:.6e},{:.2f}\n", row.epoch, row.train_loss,
                         row.val_loss, row.top1, row.lr, row.seconds);
    }
  });
}

// One pass over the test examples with the best weights.
bool SequenceTrainer::finish(SequenceOutcome& outcome) {
  load_weights(*model_, read_weights(request_.out + "/best.safetensors"));
  const auto result = score(*model_, sets_.test, run_.batch, [this] { return asked_to_stop(); });
  if (!result) return false;
  const EpochRow& best = best_of(at_.rows);
  const ModelCost cost = cost_of(model_->description());
  outcome.result = {{"run", to_json(run_)},
                    {"test_accuracy", result->top1},
                    {"test_loss", result->loss},
                    {"test_examples", result->examples},
                    {"test_is_dev", sets_.dev.shared},
                    {"best_constant", best_constant(sets_.test)},
                    {"dev_accuracy", best.top1},
                    {"best_step", best.epoch},
                    {"train_seconds", at_.seconds},
                    {"step_seconds", at_.seconds / static_cast<double>(at_.step)},
                    {"peak_bytes", peak_bytes()},
                    {"threads", at::get_num_threads()},
                    {"params", cost.params},
                    {"macs", cost.macs_with_inverse},
                    {"cut_train", sets_.train.cut}};
  lock_->check();
  write_atomically(request_.out + "/result.json",
                   [&](std::ostream& out) { out << outcome.result.dump(2) << "\n"; });
  return true;
}

void SequenceTrainer::notice(const std::string& text) const {
  if (events_.notice) events_.notice(text);
}

}  // namespace soft
