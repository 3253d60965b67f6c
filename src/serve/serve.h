// `soft serve`: the server, the workers and the models put together.
#pragma once

#include "serve/api.h"
#include "serve/door.h"
#include "serve/journal.h"
#include "serve/limits.h"
#include "serve/pipeline.h"
#include "serve/server.h"

namespace soft {

struct ServeOptions {
  Address address{};
  PipelineOptions pipeline{};
  ApiOptions api{};
  Limits limits{};
  JournalOptions journal{};
  std::vector<std::string> allowed_hosts{}, allowed_origins{};
};

// Serves until SIGTERM or SIGINT, and then until the last accepted request is answered. When some
// had to be given up, or a worker is still busy, it does not return: the process ends
// (leave_at_once).
void serve(ServedModels models, const ServeOptions& options);

// What the server does with a request: at once, or on the pipeline; 503 when too much waits.
Handler handler_of(const Door& door, const Api& api, Pipeline& pipeline);

// Ends the process without waiting for anybody, since work that hangs cannot be called back. For
// the rest of the program this is the end of main.
[[noreturn]] void leave_at_once(Journal& journal, bool answered);

}  // namespace soft
