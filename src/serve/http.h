// A request and its answer, free of sockets: what the API is written in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace soft {

struct Request {
  std::string method = "GET";
  std::string target{};        // path?query, as sent
  std::string content_type{};  // as sent; may be empty
  std::string body{};
  bool late = false;  // it came after the signal to end

  std::string_view path() const;
  std::string_view query() const;  // behind the '?'; may be empty
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  // further ones
  std::string_view route = "other";                            // one of a few, for the counters
};

// {"error":{"status":…,"kind":…,"message":…}}; the message says what is wrong, which value, and
// what to do.
Response error_response(int status, std::string_view message);

}  // namespace soft
