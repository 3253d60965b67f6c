// The HTTP API without sockets: requests in, responses out. docs/server.md describes it.
//
//   const Api api({model}, metrics, options);  const: share it between threads
//   Response response = api.handle({"POST", "/v1/classify?top=3", "image/png", bytes});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "image/codec.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/served_model.h"

namespace soft {

struct PictureLimits {
  size_t pictures = 32;  // or texts, of one request
  DecodeLimits decode{64'000'000, 65'535, 50, 500'000'000, true, {}};
};

// Which of them exist. /live and /ready always do.
struct Endpoints {
  bool classify = true, embed = true, attend = true, model = true, metrics = true, page = true;
};

struct ApiOptions {
  PictureLimits pictures{};
  Endpoints endpoints{};
  size_t most_together = 8;  // pictures or texts in one run of the model
};

class Work;

class Api {
 public:
  Api(ServedModels models, const Metrics& metrics, ApiOptions options = {});

  // The answer to any request; never throws.
  Response handle(Request request) const;

  // The same in steps. First what needs no model: facts, counters, the page, and refusals; nothing
  // for a request that goes on.
  std::optional<Response> at_once(const Request& request) const;
  // Then the request is taken apart, its pictures or texts are decoded (Work::decode),
  std::unique_ptr<Work> read(Request request) const;
  // and the models run on those that ask for classes or vectors, all of a kind together. Afterwards
  // each work has its response.
  void run(const std::vector<Work*>& works) const;

 private:
  bool exists(std::string_view path) const;
  bool reads_texts() const { return models_.front().reads_texts(); }
  Response facts_for(const Request& request) const;
  std::optional<Response> answer_reading(const Request& request) const;
  void run_alike(const std::vector<Work*>& works) const;

  const ServedModels models_;
  const Metrics& metrics_;
  const ApiOptions options_;
  std::vector<std::string> facts_;  // JSON, of each model
};

}  // namespace soft
