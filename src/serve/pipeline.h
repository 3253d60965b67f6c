// The way of a request through the house: taken apart and decoded by readers, run by workers. Large
// pictures are decoded by one reader of their own and attention is computed by workers of its own,
// so that neither holds up small pictures to classify.
#pragma once

#include "serve/api.h"
#include "serve/crew.h"

namespace soft {

struct PipelineOptions {
  CrewOptions classify;
  int attend_workers = 1;
  int readers = 1;
  int threads_each = 1;  // of a worker
};

class Pipeline {
 public:
  Pipeline(const Api& api, const PipelineOptions& options, Metrics& metrics);

  // False when too much waits already; the ticket is then untouched.
  bool take(Ticket& ticket) { return readers_.take(ticket); }

  // From now on nothing is begun; false when some thread is still at work.
  bool close();

 private:
  Labour reader();
  Labour heavy_reader();
  Labour classifier();  // or embeds: what one run of the model answers
  Labour attender();
  void read(Ticket& ticket);
  void decode(Ticket& ticket);

  const Api& api_;
  const PipelineOptions options_;
  Crew attenders_, classifiers_;  // before those who hand on to them
  Crew heavy_readers_, readers_;
};

}  // namespace soft
