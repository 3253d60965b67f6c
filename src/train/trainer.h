// The training loop: batches in, weights and a log out. Reports through TrainEvents and never
// prints.
#pragma once

#include <chrono>
#include <memory>

#include "data/loader.h"
#include "metric/evaluate.h"
#include "model/classifier.h"
#include "train/optimizer.h"
#include "train/plan.h"
#include "train/run_lock.h"
#include "train/schedule.h"
#include "train/state.h"

namespace soft {

// Where distributed training enters: sums gradients over all ranks, in place.
using Reduce = std::function<void(const std::vector<torch::Tensor>& gradients)>;

class Trainer {
 public:
  Trainer(Plan plan, const TrainRequest& request, TrainEvents events, Reduce reduce = {});

  // Trains to the last epoch, or until events.should_stop says so.
  TrainOutcome run();

  // The plan with what a few steps took, for --dry-run. Writes nothing; the trainer is spent.
  TrainOutcome measure();

 private:
  using Clock = std::chrono::steady_clock;

  struct Measured {
    double seconds = 0;  // of one batch
    int64_t bytes = 0;   // the most memory in use
    int steps = 0;       // that were made; 0: reckoned
  };
  Measured measure_steps(int64_t batch, int steps);
  TrainOutcome measured_outcome(const Measured& step);

  void enter_folder();
  void start_weights();
  void restore(const State& state);
  void warn_of_slow_average() const;
  bool train_epoch();  // false when asked to stop
  void train_batch(const Batch& batch);
  void check_finite(const char* what, double value, double lr);
  bool finish_epoch();  // likewise
  Evaluation evaluate_with(Loader& loader, Classifier& model) const;
  bool asked_to_stop() const { return events_.should_stop && events_.should_stop(); }
  void save_state();
  void save_epoch();  // the weights and the log of the last finished epoch
  void catch_up();
  void save_weights(const EpochRow& row);
  void write_log() const;
  void report_step();
  void notice(const std::string& text) const;
  double current_lr() const;
  Classifier& evaluated();  // the EMA where there is one

  Plan plan_;
  TrainRequest request_;
  TrainEvents events_;
  Reduce reduce_;
  Schedule schedule_;
  Loader train_loader_, val_loader_;
  std::shared_ptr<Classifier> model_, average_;
  std::unique_ptr<AdamW> optimizer_;
  std::unique_ptr<Ema> ema_;
  std::unique_ptr<RunLock> lock_;
  StateFolder states_;
  Position at_;
  bool epoch_was_whole_ = false;  // where a resumed run goes on
  Clock::time_point last_save_;
};

}  // namespace soft
