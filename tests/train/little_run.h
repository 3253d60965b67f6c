// A model and a set small enough to train in a second.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/tensors.h"
#include "train/trainer.h"

namespace soft::test {

inline TrainRequest little_run(const std::string& folder) {
  TrainRequest request;
  request.data = "shapes";
  request.model = "soft-nano";
  request.recipe = "small";
  request.settings = {"dims=32,32,32,32", "heads=1,1,1,1", "depths=1,1,1,1", "drop_path=0.1",
                      "stem_dim=8"};
  request.epochs = 2;
  request.batch = 16;
  request.limit_train = 64;
  request.limit_val = 32;
  request.out = folder;
  return request;
}

inline TrainOutcome train(const TrainRequest& request, TrainEvents events = {}) {
  return Trainer(make_plan(request), request, std::move(events)).run();
}

// What a whole run has to say besides its numbers.
inline std::vector<std::string> notices_of(const TrainRequest& request) {
  std::vector<std::string> notices;
  TrainEvents events;
  events.notice = [&](const std::string& text) { notices.push_back(text); };
  train(request, events);
  return notices;
}

// Trains until so many steps are done, then stops as an interrupt would.
inline TrainOutcome train_until(const TrainRequest& request, int steps) {
  int done = 0;
  TrainEvents events;
  events.step = [&](const StepReport&) { ++done; };
  events.should_stop = [&] { return done >= steps; };
  return train(request, events);
}

inline TrainOutcome resume(const std::string& folder) {
  TrainRequest request;
  request.out = folder;
  request.resume = true;
  return train(request);
}

// The bytes of all tensors of the newest state: weights, EMA, optimizer and random generator.
inline std::string fingerprint(const std::string& folder) {
  const auto state = StateFolder(folder + "/state").load();
  std::string bytes;
  for (const auto& [name, tensor] : state->tensors) {
    bytes += name;
    bytes.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  }
  return bytes;
}

// Bits can be compared at one thread only.
class TrainerTest : public testing::Test {
 protected:
  TrainerTest() { at::set_num_threads(1); }
  ~TrainerTest() override { at::set_num_threads(2); }
  TemporaryFolder folder_;
};

}  // namespace soft::test
