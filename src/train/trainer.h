// The training loop: batches in, weights and a log out. Reports through TrainEvents and never
// prints.
#pragma once

#include <chrono>
#include <memory>

#include "data/loader.h"
#include "group/group.h"
#include "metric/evaluate.h"
#include "model/classifier.h"
#include "train/optimizer.h"
#include "train/plan.h"
#include "train/replica.h"
#include "train/run_lock.h"
#include "train/schedule.h"
#include "train/state.h"

namespace soft {

class Trainer {
 public:
  // Alone, or as one rank of a group; the first one reads and writes the files.
  Trainer(Plan plan, const TrainRequest& request, TrainEvents events,
          std::shared_ptr<Group> group = nullptr);

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

  void begin_files();
  void enter_folder();
  void start_weights();
  void restore(const State& state);
  void join_others();
  void warn_of_slow_average() const;
  bool train_epoch();  // false when asked to stop
  void train_batch(const Batch& batch);
  void count_loss(const StepSums& sums);
  void agree_on(const StepSums& all);
  void check_finite(const char* what, double value, double lr);
  bool finish_epoch();  // likewise
  std::vector<LayerHealth> watch_attention();
  Evaluation evaluate_with(Loader& loader, Classifier& model) const;
  bool asked_to_stop() const { return events_.should_stop && events_.should_stop(); }
  bool writes() const { return !group_ || group_->first(); }
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
  std::shared_ptr<Group> group_;  // none: alone
  Schedule schedule_;
  Loader train_loader_, val_loader_;
  std::shared_ptr<Classifier> model_, average_;
  std::unique_ptr<AdamW> optimizer_;
  std::unique_ptr<Ema> ema_;
  std::unique_ptr<Replica> replica_;  // where there is a group
  std::unique_ptr<RunLock> lock_;
  StateFolder states_;
  Position at_;
  StepSums parts_;                // of the step under way, on this rank
  bool told_to_stop_ = false;     // some rank was
  double waited_before_ = 0;      // seconds, before this epoch
  bool epoch_was_whole_ = false;  // where a resumed run goes on
  Clock::time_point last_save_;
};

}  // namespace soft
