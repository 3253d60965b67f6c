#include "serve/serve.h"

#include <fmt/ranges.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/log_sink.h"
#include "serve/housekeeper.h"
#include "serve/work.h"

namespace soft {
namespace {

constexpr const char* kGivenUp = "ended before every request was answered";
constexpr std::chrono::milliseconds kLastWords{1'000};
constexpr std::chrono::seconds kTidying{2};
constexpr size_t kOtherDescriptors = 64;  // beside connections

// While the server runs, its journal writes what the house has to say.
class LogToJournal {
 public:
  explicit LogToJournal(Journal& journal) {
    set_log_sink([&journal](const std::string& line) { journal.error(line); });
  }
  ~LogToJournal() { set_log_sink(nullptr); }
  LogToJournal(const LogToJournal&) = delete;
  LogToJournal& operator=(const LogToJournal&) = delete;
};

// As many descriptors as there may be connections, where the system lets us.
void raise_descriptors(const Limits& limits) {
  const size_t wanted = limits.connections + limits.spare_places + kOtherDescriptors;
  rlimit now{};
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= wanted) return;
  now.rlim_cur = std::min<rlim_t>(wanted, now.rlim_max);
  setrlimit(RLIMIT_NOFILE, &now);
  if (now.rlim_cur < wanted) {
    log("{} descriptors are too few for {} connections; raise `ulimit -n` or lower "
        "--max-connections",
        now.rlim_cur, limits.connections);
  }
}

std::string names_of(const ServedModels& models) {
  std::vector<std::string> names;
  for (const ServedModel& model : models) names.push_back(model.name());
  return fmt::format("{}", fmt::join(names, " and "));
}

void announce(const ServeOptions& options, int port, const std::string& names) {
  const std::string host = host_name(options.address.host);
  const bool v6 = host.find(':') != std::string::npos;
  const CrewOptions& crew = options.pipeline.classify;
  log("{} on http://{}{}{}:{}/ (workers: {}, batches of up to {}); Ctrl-C ends it", names,
      v6 ? "[" : "", host, v6 ? "]" : "", port, crew.workers, crew.most);
}

}  // namespace

Handler handler_of(const Door& door, const Api& api, Pipeline& pipeline) {
  return [&](Request request, Reply plain) {
    std::optional<Response> response = door.turn_away(request);
    Reply reply = [&door, origin = request.origin, plain = std::move(plain)](Response answer) {
      door.let_read(origin, answer);
      plain(std::move(answer));
    };
    if (!response) response = api.at_once(request);
    if (response) return reply(std::move(*response));
    const std::string_view route = route_of(request);
    const bool late = request.late;
    Ticket ticket{std::move(request), std::move(reply)};
    if (!late && pipeline.take(ticket)) return;
    Response busy = error_response(503, late ? "the server is about to end; ask another one"
                                             : "too many requests wait; try again in a second");
    busy.route = route;
    ticket.answer(std::move(busy));
  };
}

void leave_at_once(Journal& journal, bool answered) {
  log("{}", answered ? "ended; some work was left behind" : kGivenUp);
  journal.flush(kLastWords);
  std::_Exit(answered ? 0 : 1);
}

void serve(ServedModels models, const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the log may go; the requests stay
  raise_descriptors(options.limits);
  Journal journal(options.journal);
  Metrics metrics;
  metrics.dropped_lines = [&journal] { return journal.dropped(); };
  Server server(options.address, options.limits, metrics, &journal);
  const std::string names = names_of(models);
  const Door door(door_of(options.address.host, options.allowed_hosts, options.allowed_origins));
  const Api api(std::move(models), metrics, options.api);
  Pipeline pipeline(api, options.pipeline, metrics);
  if (!options.journal.errors.empty())
    announce(options, server.port(), names);  // to whoever starts it
  const LogToJournal to_journal(journal);
  const Housekeeper housekeeper([&metrics] { return metrics.answered.load(); }, kTidying);
  announce(options, server.port(), names);
  const bool answered = server.run(handler_of(door, api, pipeline));
  const bool idle = pipeline.close();
  if (!idle || !answered) leave_at_once(journal, answered);
  log("ended");
}

}  // namespace soft
