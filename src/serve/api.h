// The HTTP API without sockets: requests in, responses out. docs/server.md describes it.
//
//   const Api api(model, options, metrics);  const: share it between threads
//   Workspace workspace;                     one per caller
//   Response response = api.handle(workspace, {"POST", "/v1/classify?top=3", "image/png", bytes});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"
#include "image/codec.h"
#include "image/transform.h"
#include "serve/http.h"
#include "serve/metrics.h"

namespace soft {

struct ServedModel {
  Packed packed;
  Preprocessing preprocessing;
  std::vector<std::string> class_names;  // empty when unknown
};

struct PictureLimits {
  size_t pictures = 32;  // of one request
  DecodeLimits decode{64'000'000, 65'535, 50, 500'000'000, true, {}};
};

// Which of them exist. /live and /ready always do.
struct Endpoints {
  bool classify = true, attend = true, model = true, metrics = true, page = true;
};

struct ApiOptions {
  PictureLimits pictures{};
  Endpoints endpoints{};
  size_t most_together = 8;  // pictures in one run of the model
};

class Work;

class Api {
 public:
  Api(ServedModel model, const Metrics& metrics, ApiOptions options = {});

  // The answer to any request; never throws.
  Response handle(Workspace& workspace, Request request) const;

  // The same in steps. First what needs no model: facts, counters, the page, and refusals; nothing
  // for a request that goes on.
  std::optional<Response> at_once(const Request& request) const;
  // Then the request is taken apart, its pictures are decoded (Work::decode),
  std::unique_ptr<Work> read(Request request) const;
  // and the model runs. Afterwards each work has its response.
  void classify(Workspace& workspace, const std::vector<Work*>& works) const;

 private:
  bool exists(std::string_view path) const;

  ServedModel model_;
  const Metrics& metrics_;
  const ApiOptions options_;
  std::string facts_;  // JSON
};

}  // namespace soft
