#include "serve/api.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/error.h"
#include "base/log.h"
#include "serve/facts.h"
#include "serve/page.h"
#include "serve/work.h"

namespace soft {
namespace {

constexpr std::string_view kModelPath = "/v1/model";
constexpr std::string_view kLivePath = "/live";
constexpr std::string_view kReadyPath = "/ready";
constexpr std::string_view kMetricsPath = "/metrics";

// Everything the page needs comes from this server.
constexpr const char* kPagePolicy =
    "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'";

Response answer(std::string_view route, std::string body) {
  Response response;
  response.body = std::move(body);
  response.route = route;
  return response;
}

Response refusal(std::string_view route, int status, const std::string& message) {
  Response response = error_response(status, message);
  response.route = route;
  return response;
}

Response wrong_method(std::string_view route, const Request& request, const char* allowed) {
  Response response = refusal(
      route, 405, fmt::format("{} does not take {}; use {}", route, request.method, allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

Response page_answer(const PageFile& file) {
  Response response = answer("page", std::string(file.bytes));
  response.content_type = file.content_type;
  response.headers = {{"Content-Security-Policy", kPagePolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-cache"}};
  return response;
}

// What only needs to be read; nothing when there is no such path.
std::optional<Response> answer_reading(std::string_view path, const std::string& facts,
                                       const Metrics& metrics) {
  if (path == kModelPath) return answer(kModelPath, facts);
  if (path == kLivePath) return answer(kLivePath, R"({"status":"live"})");
  if (path == kReadyPath) {
    if (!metrics.draining) return answer(kReadyPath, R"({"status":"ready"})");
    return refusal(kReadyPath, 503, "the server is about to end; ask another one");
  }
  if (path == kMetricsPath) {
    Response response = answer(kMetricsPath, metrics.text());
    response.content_type = "text/plain; version=0.0.4";
    return response;
  }
  for (const PageFile& file : page_files()) {
    if (path == file.path) return page_answer(file);
  }
  return std::nullopt;
}

// Runs the pictures to classify as one batch. All have the model's own size.
void classify_together(const ServedModel& model, Workspace& workspace, std::deque<Work>& works) {
  const auto start = std::chrono::steady_clock::now();
  const int64_t side = model.packed.spec().image_size, classes = model.packed.spec().classes;
  std::vector<float> pixels;
  std::vector<Work*> members;
  for (Work& work : works) {
    if (work.pixels().empty()) continue;
    members.push_back(&work);
    pixels.insert(pixels.end(), work.pixels().begin(), work.pixels().end());
  }
  if (members.empty()) return;
  const auto count = static_cast<int64_t>(members.size());
  std::vector<float> logits(count * classes);
  forward(model.packed, workspace, {pixels.data(), count, {side, side}}, logits.data());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  for (int64_t i = 0; i < count; ++i) {
    members[i]->take_logits(logits.data() + i * classes, took.count(), members.size());
  }
}

}  // namespace

Api::Api(ServedModel model, const Metrics& metrics)
    : model_(std::move(model)), metrics_(metrics), facts_(facts_of(model_).dump()) {}

std::optional<Response> Api::at_once(const Request& request) const {
  const std::string_view path = request.path();
  for (const std::string_view route : {kClassifyPath, kAttendPath}) {
    if (path != route) continue;
    if (request.method != "POST") return wrong_method(route, request, "POST");
    if (is_upload_type(request.content_type)) return std::nullopt;
    return refusal(route, 415,
                   fmt::format("cannot read a picture from '{}'; send image/*, "
                               "multipart/form-data or application/json",
                               request.content_type));
  }
  const std::optional<Response> response = answer_reading(path, facts_, metrics_);
  if (!response) {
    return refusal("other", 404,
                   fmt::format("there is nothing at '{}'; docs/server.md lists the paths", path));
  }
  if (request.method == "GET" || request.method == "HEAD") return response;
  return wrong_method(response->route, request, "GET");
}

std::vector<Response> Api::run(Workspace& workspace,
                               const std::vector<const Request*>& batch) const {
  std::deque<Work> works;
  for (const Request* request : batch) works.emplace_back(model_, *request);
  try {
    classify_together(model_, workspace, works);
  } catch (const std::exception& error) {
    log("a batch of {} failed: {}", batch.size(), error.what());
    for (Work& work : works) {
      if (!work.pixels().empty()) work.refuse(500, "unexpected failure; the server's log has it");
    }
  }
  std::vector<Response> responses;
  for (Work& work : works) {
    work.run_alone(workspace);
    responses.push_back(work.take_response());
  }
  return responses;
}

Response Api::handle(Workspace& workspace, const Request& request) const {
  std::optional<Response> response = at_once(request);
  return response ? *response : run(workspace, {&request}).front();
}

}  // namespace soft
