// Who may come in. A server that listens on this machine alone is still within reach of every page
// in its owner's browser: a page can post to it, and with a name of its own that it points at
// 127.0.0.1 (DNS rebinding) even read the answers. Hence requests must name a host that is meant,
// and pages of other origins are turned away.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/http.h"

namespace soft {

struct DoorOptions {
  bool guarded = true;               // off: everyone may come in
  std::vector<std::string> hosts;    // names that are meant, without ports; "*" for any
  std::vector<std::string> origins;  // pages that may ask, "https://example.org"; "*" for any
};

// Listening on `host`: guarded on loopback, or when names are given.
DoorOptions door_of(const std::string& host, std::vector<std::string> hosts,
                    std::vector<std::string> origins);

class Door {
 public:
  explicit Door(DoorOptions options) : options_(std::move(options)) {}

  // What a request hears that may not come in, or that asks whether it might (CORS' preflight).
  std::optional<Response> turn_away(const Request& request) const;

  // Lets the page that sent the request read its answer, where that was allowed.
  void let_read(const std::string& origin, Response& response) const;

 private:
  bool allows_origin(const std::string& origin) const;

  DoorOptions options_;
};

bool is_loopback_name(std::string_view host);  // localhost, 127.x.x.x, ::1

// "Example.org:80" -> "example.org", "[::1]:80" -> "::1"
std::string host_name(std::string_view authority);

}  // namespace soft
