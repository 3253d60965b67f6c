#include "serve/serve.h"

#include <csignal>
#include <memory>

#include "base/log.h"
#include "base/parallel.h"
#include "serve/work.h"

namespace soft {
namespace {

constexpr size_t kWorkerMemory = size_t{1} << 30;

// What a worker answers with: the shared model and scratch memory of its own.
Answer new_worker(const Api& api, int threads_each) {
  set_threads(threads_each);
  WorkspaceOptions options;
  options.largest_bytes = kWorkerMemory;
  auto workspace = std::make_shared<Workspace>(options);
  return [&api, workspace](const std::vector<const Request*>& batch) {
    return api.run(*workspace, batch);
  };
}

void announce(const Address& address, int port, const ModelSpec& spec, const CrewOptions& crew) {
  const bool v6 = address.host.find(':') != std::string::npos;
  log("{} on http://{}{}{}:{}/ (workers: {}, batches of up to {}); Ctrl-C ends it", spec.name,
      v6 ? "[" : "", address.host, v6 ? "]" : "", port, crew.workers, crew.most);
}

}  // namespace

Handler handler_of(const Api& api, Crew& crew) {
  return [&api, &crew](Request request, Reply reply) {
    std::optional<Response> response = api.at_once(request);
    if (response) return reply(std::move(*response));
    const bool attend = request.path() == kAttendPath, late = request.late;
    Ticket ticket{std::move(request), std::move(reply), attend};
    if (!late && crew.take(ticket)) return;
    Response busy = error_response(503, late ? "the server is about to end; ask another one"
                                             : "too many requests wait; try again in a second");
    busy.route = attend ? kAttendPath : kClassifyPath;
    ticket.reply(std::move(busy));
  };
}

void serve(ServedModel model, const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the log may go; the requests stay
  Metrics metrics;
  Server server(options.address, options.limits, metrics);
  const ModelSpec spec = model.packed.spec();
  const Api api(std::move(model), metrics);
  Crew crew(options.crew, metrics, [&] { return new_worker(api, options.threads_each); });
  announce(options.address, server.port(), spec, options.crew);
  server.run(handler_of(api, crew));
  log("ended");
}

}  // namespace soft
