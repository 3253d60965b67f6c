#include "serve/http.h"

#include <algorithm>

#include "base/json.h"

namespace soft {
namespace {

constexpr size_t kLongestMessage = 500;  // it may quote what a client sent

std::string_view kind_of(int status) {
  switch (status) {
    case 400:
      return "bad_request";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 408:
      return "too_slow";
    case 413:
      return "body_too_large";
    case 415:
      return "unsupported_content_type";
    case 422:
      return "unusable_picture";
    case 431:
      return "headers_too_large";
    case 503:
      return "busy";
    default:
      return "internal";
  }
}

}  // namespace

std::string_view Request::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view Request::query() const {
  const size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

bool is_health_check(std::string_view path) {
  return path == kLivePath || path == kReadyPath || path == kMetricsPath;
}

Response error_response(int status, std::string_view message) {
  message = message.substr(0, kLongestMessage);
  const Json json{{"error", {{"status", status}, {"kind", kind_of(status)}, {"message", message}}}};
  Response response;
  response.status = status;
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

}  // namespace soft
