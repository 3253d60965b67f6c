// `soft serve`: the server, the workers and the model put together.
#pragma once

#include "serve/api.h"
#include "serve/crew.h"
#include "serve/limits.h"
#include "serve/server.h"

namespace soft {

struct ServeOptions {
  Address address;
  CrewOptions crew;
  int threads_each = 1;  // of a worker
  Limits limits;
};

// Serves until SIGTERM or SIGINT, and then until the last accepted request is answered.
void serve(ServedModel model, const ServeOptions& options);

// What the server does with a request: at once, or by a worker; 503 when the queue is full.
Handler handler_of(const Api& api, Crew& crew);

}  // namespace soft
