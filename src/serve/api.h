// The HTTP API without sockets: requests in, responses out. docs/server.md describes it.
//
//   const Api api(model, metrics);          const: share it between threads
//   Workspace workspace;                    one per caller
//   Response response = api.handle(workspace, {"POST", "/v1/classify?top=3", "image/png", bytes});
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"
#include "image/transform.h"
#include "serve/http.h"
#include "serve/metrics.h"

namespace soft {

struct ServedModel {
  Packed packed;
  Preprocessing preprocessing;
  std::vector<std::string> class_names;  // empty when unknown
};

class Api {
 public:
  Api(ServedModel model, const Metrics& metrics);

  // The answer to any request; never throws.
  Response handle(Workspace& workspace, const Request& request) const;

  // The same in two steps. First what needs no model: facts, counters, the page, and refusals;
  // nothing for a request that goes on to the second step.
  std::optional<Response> at_once(const Request& request) const;
  // Then the model, for several requests together: pictures to classify are one batch.
  std::vector<Response> run(Workspace& workspace, const std::vector<const Request*>& batch) const;

 private:
  ServedModel model_;
  const Metrics& metrics_;
  std::string facts_;  // JSON
};

}  // namespace soft
