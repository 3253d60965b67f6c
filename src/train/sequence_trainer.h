// Trains a sequence model by the Long Range Arena's protocol: steps in, one test number out. The
// weights with the best accuracy on the development examples are tested, once. Resumes bit for bit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "data/sequence_loader.h"
#include "model/sequence_model.h"
#include "train/optimizer.h"
#include "train/run_lock.h"
#include "train/sequence_run.h"
#include "train/state.h"

namespace soft {

class SequenceTrainer {
 public:
  SequenceTrainer(const SequenceTrainRequest& request, SequenceEvents events);

  SequenceOutcome run();

 private:
  using Clock = std::chrono::steady_clock;

  void begin();  // a new run: its folder and recipe.json
  void restore(const State& state);
  bool train();  // false when asked to stop
  double train_batch(const SequenceBatch& batch);
  void report_step() const;
  bool evaluate_now();  // likewise
  void save_state();
  void write_files() const;  // weights and log, as the state has them
  void save_best(const EpochRow& row) const;
  void write_log() const;
  bool finish(SequenceOutcome& outcome);
  bool asked_to_stop() const { return events_.should_stop && events_.should_stop(); }
  void notice(const std::string& text) const;

  SequenceTrainRequest request_;
  SequenceEvents events_;
  std::unique_ptr<RunLock> lock_;
  SequenceRun run_;
  SequenceSets sets_;
  SequenceLoader loader_;
  std::shared_ptr<SequenceModel> model_;
  std::unique_ptr<AdamW> optimizer_;
  StateFolder states_;
  Position at_;  // rows: evaluations; loss: since the last one; seconds: of all steps
  Clock::time_point last_save_;
};

// Right answers in per cent and the mean loss. `stop` is asked before every batch; nothing when it
// says so.
struct SequenceScore {
  double top1 = 0, loss = 0;
  int64_t examples = 0;
};
std::optional<SequenceScore> score(SequenceModel& model, const SequenceSet& set, int64_t batch,
                                   const std::function<bool()>& stop);

}  // namespace soft
