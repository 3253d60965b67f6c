// A request and its answer, free of sockets: what the API is written in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/patience.h"

namespace soft {

struct Request {
  std::string method = "GET";
  std::string target{};        // path?query, as sent
  std::string content_type{};  // as sent; may be empty
  std::string body{};
  bool late = false;     // it came after the signal to end
  std::string host{};    // whom it was meant for: the target's own, or the Host header,
  std::string origin{};  // and the page that sent it, if one did
  std::shared_ptr<Patience> patience{};  // none: it may take as long as it takes

  std::string_view path() const;
  std::string_view query() const;  // behind the '?'; may be empty
  bool given_up() const { return patience != nullptr && patience->over(); }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  // further ones
  std::string_view route = "other";                            // one of a few, for the counters
};

using Reply = std::function<void(Response)>;  // called once, from any thread

// The paths that answer when nothing else does.
constexpr std::string_view kLivePath = "/live";
constexpr std::string_view kReadyPath = "/ready";
constexpr std::string_view kMetricsPath = "/metrics";
bool is_health_check(std::string_view path);

// {"error":{"status":…,"kind":…,"message":…}}; the message says what is wrong, which value, and
// what to do.
Response error_response(int status, std::string_view message);

}  // namespace soft
