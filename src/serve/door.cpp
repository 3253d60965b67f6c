#include "serve/door.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/printable.h"

namespace soft {
namespace {

bool holds(const std::vector<std::string>& list, std::string_view word) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return one == "*" || one == word; });
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// "http://example.org:80" -> "example.org:80"
std::string_view authority_of(std::string_view origin) {
  const size_t colon = origin.find("://");
  return colon == std::string_view::npos ? std::string_view() : origin.substr(colon + 3);
}

Response forbidden(const std::string& message) { return error_response(403, message); }

// The answer to "may I?" before a page's real request.
Response preflight() {
  Response response;
  response.status = 204;
  response.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                      {"Access-Control-Allow-Headers", "Content-Type"},
                      {"Access-Control-Max-Age", "600"}};
  return response;
}

}  // namespace

std::string host_name(std::string_view authority) {
  const bool bracketed = !authority.empty() && authority.front() == '[';
  if (bracketed) authority.remove_prefix(1);
  const size_t end = bracketed ? authority.find(']') : authority.rfind(':');
  // Several colons without brackets are an address, not a port behind a name.
  const bool bare = !bracketed && authority.find(':') != end;
  return lowered(bare ? authority : authority.substr(0, end));
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

DoorOptions door_of(const std::string& host, std::vector<std::string> hosts,
                    std::vector<std::string> origins) {
  DoorOptions options;
  const std::string own = host_name(host);
  options.guarded = is_loopback_name(own) || !hosts.empty() || !origins.empty();
  for (std::string& name : hosts) options.hosts.push_back(name == "*" ? name : host_name(name));
  for (const char* name : {"localhost", "127.0.0.1", "::1"}) options.hosts.emplace_back(name);
  options.hosts.push_back(own);
  for (std::string& origin : origins) options.origins.push_back(lowered(origin));
  return options;
}

bool Door::allows_origin(const std::string& origin) const {
  return holds(options_.origins, lowered(origin));
}

std::optional<Response> Door::turn_away(const Request& request) const {
  if (!options_.guarded) return std::nullopt;
  // Without a name it is an old client, no browser.
  if (!request.host.empty() && !holds(options_.hosts, host_name(request.host))) {
    return forbidden(fmt::format("no server for the host '{}' here; --allow-host lets it in",
                                 printable(request.host)));
  }
  if (request.origin.empty()) return std::nullopt;
  const bool own = lowered(authority_of(request.origin)) == lowered(request.host);
  if (!own && !allows_origin(request.origin)) {
    return forbidden(fmt::format("pages of '{}' may not ask here; --allow-origin lets them",
                                 printable(request.origin)));
  }
  if (request.method == "OPTIONS") return preflight();
  return std::nullopt;
}

void Door::let_read(const std::string& origin, Response& response) const {
  if (origin.empty() || !allows_origin(origin)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", printable(origin));
  response.headers.emplace_back("Vary", "Origin");
}

}  // namespace soft
