#include "serve/pipeline.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/parallel.h"
#include "serve/work.h"

namespace soft {
namespace {

constexpr int64_t kHeavyWork = 32'000'000;  // pixels to go over: about a third of a second
constexpr int kHeavyNice = 10;              // whoever decodes for long leaves the cores to others

CrewOptions singles(int workers, size_t queue) {
  CrewOptions options;
  options.workers = workers;
  options.most = 1;
  options.queue = queue;
  options.counted = false;
  return options;
}

void answer_busy(Ticket& ticket, const char* message) {
  ticket.work->refuse(503, message);
  ticket.answer(ticket.work->take_response());
}

// Nobody waits for these any more.
bool drop_given_up(Ticket& ticket) {
  if (!ticket.work->given_up()) return false;
  answer_busy(ticket, "not answered in time; try again in a second");
  return true;
}

}  // namespace

Pipeline::Pipeline(const Api& api, const PipelineOptions& options, Metrics& metrics)
    : api_(api),
      options_(options),
      attenders_(singles(options.attend_workers, options.classify.queue), metrics,
                 [this] { return attender(); }),
      classifiers_(options.classify, metrics, [this] { return classifier(); }),
      heavy_readers_(singles(1, options.classify.queue), metrics,
                     [this] { return heavy_reader(); }),
      readers_(singles(options.readers, options.classify.queue), metrics,
               [this] { return reader(); }) {}

bool Pipeline::close() {
  bool idle = true;
  for (Crew* crew : {&readers_, &heavy_readers_, &classifiers_, &attenders_}) {
    idle = crew->close() && idle;
  }
  return idle;
}

Labour Pipeline::reader() {
  set_threads(1);
  return [this](std::vector<Ticket>& batch) {
    for (Ticket& ticket : batch) read(ticket);
  };
}

Labour Pipeline::heavy_reader() {
  set_threads(1);
  setpriority(PRIO_PROCESS, 0, kHeavyNice);  // on Linux, of this thread alone
  return [this](std::vector<Ticket>& batch) {
    for (Ticket& ticket : batch) {
      if (!drop_given_up(ticket)) decode(ticket);
    }
  };
}

void Pipeline::read(Ticket& ticket) {
  ticket.work = api_.read(std::move(ticket.request));
  if (ticket.work->refused()) return ticket.answer(ticket.work->take_response());
  if (drop_given_up(ticket)) return;
  if (ticket.work->announced() <= kHeavyWork) return decode(ticket);
  if (heavy_readers_.take(ticket)) return;
  answer_busy(ticket, "too many large pictures wait; try again in a second");
}

void Pipeline::decode(Ticket& ticket) {
  Work& work = *ticket.work;
  work.decode();
  if (work.refused()) return ticket.answer(work.take_response());
  ticket.weight = std::max<size_t>(1, work.ready().size());
  if ((work.attends() ? attenders_ : classifiers_).take(ticket)) return;
  answer_busy(ticket, "too many requests wait; try again in a second");
}

Labour Pipeline::classifier() {
  set_threads(options_.threads_each);
  return [this](std::vector<Ticket>& batch) {
    std::vector<Work*> works;
    for (Ticket& ticket : batch) {
      if (!drop_given_up(ticket)) works.push_back(ticket.work.get());
    }
    if (works.empty()) return;
    api_.run(works);
    for (Ticket& ticket : batch) ticket.answer(ticket.work->take_response());
  };
}

Labour Pipeline::attender() {
  set_threads(options_.threads_each);
  return [this](std::vector<Ticket>& batch) {
    for (Ticket& ticket : batch) {
      if (drop_given_up(ticket)) continue;
      ticket.work->attend();
      ticket.answer(ticket.work->take_response());
    }
  };
}

}  // namespace soft
