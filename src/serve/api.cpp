#include "serve/api.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "facade/input.h"
#include "serve/facts.h"
#include "serve/page.h"
#include "serve/work.h"

namespace soft {
namespace {

constexpr std::string_view kModelPath = "/v1/model";
constexpr std::string_view kTextPage = "/text.html";  // what "/" is for a model of texts

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

using Items = std::vector<const Work::Item*>;

std::vector<float> run_pictures(const Runner& runner, const Items& items, bool embeds) {
  const int64_t side = runner.spec().image_size;
  std::vector<float> pixels;
  for (const Work::Item* item : items) {
    pixels.insert(pixels.end(), item->pixels.begin(), item->pixels.end());
  }
  const ImageBatch images{pixels.data(), static_cast<int64_t>(items.size()), {side, side}};
  return embeds ? runner.vectors(images) : runner.logits(images);
}

std::vector<float> run_texts(const SequenceRunner& runner, const Items& items) {
  std::vector<const std::vector<int32_t>*> texts;
  for (const Work::Item* item : items) texts.push_back(&item->tokens.ids);
  return runner.logits(texts);
}

// Runs all items of works that ask alike, some at a time: [items, classes] or [items, C]. Nothing
// when nobody waits for them any more.
std::optional<std::vector<float>> run_model(const ServedModel& model,
                                            const std::vector<Work*>& works, size_t most) {
  Items items;
  for (const Work* work : works) {
    items.insert(items.end(), work->ready().begin(), work->ready().end());
  }
  std::vector<float> answers;
  for (size_t first = 0; first < items.size(); first += most) {
    const bool wanted =
        std::any_of(works.begin(), works.end(), [](const Work* work) { return !work->given_up(); });
    if (!wanted) return std::nullopt;
    const auto begin = items.begin() + static_cast<ptrdiff_t>(first);
    const Items some(begin, begin + static_cast<ptrdiff_t>(std::min(most, items.size() - first)));
    const auto part = model.reads_texts()
                          ? run_texts(*model.texts, some)
                          : run_pictures(*model.runner, some, works.front()->embeds());
    answers.insert(answers.end(), part.begin(), part.end());
  }
  return answers;
}

}  // namespace

Api::Api(ServedModels models, const Metrics& metrics, ApiOptions options)
    : models_(std::move(models)), metrics_(metrics), options_(std::move(options)) {
  for (const ServedModel& model : models_) facts_.push_back(facts_of(model, models_).dump());
}

bool Api::exists(std::string_view path) const {
  const Endpoints& endpoints = options_.endpoints;
  if (path == kClassifyPath) return endpoints.classify;
  if (path == kEmbedPath) return endpoints.embed;
  if (path == kAttendPath) return endpoints.attend;
  if (path == kModelPath) return endpoints.model;
  if (path == kMetricsPath) return endpoints.metrics;
  return endpoints.page || is_health_check(path);
}

Response Api::facts_for(const Request& request) const {
  try {
    Parameters parameters;
    parameters.add_query(request.query());
    parameters.allow({kBoxParameter});
    return answer(kModelPath, facts_[chosen_model(models_, parameters)]);
  } catch (const Error& error) {
    return refusal(kModelPath, 400, error.what());
  }
}

// What only needs to be read; nothing when there is no such path.
std::optional<Response> Api::answer_reading(const Request& request) const {
  std::string_view path = request.path();
  if (path == "/" && reads_texts()) path = kTextPage;
  if (path == kModelPath) return facts_for(request);
  if (path == kLivePath) return answer(kLivePath, R"({"status":"live"})");
  if (path == kReadyPath) {
    if (!metrics_.draining) return answer(kReadyPath, R"({"status":"ready"})");
    return refusal(kReadyPath, 503, "the server is about to end; ask another one");
  }
  if (path == kMetricsPath) {
    Response response = answer(kMetricsPath, metrics_.text());
    response.content_type = "text/plain; version=0.0.4";
    return response;
  }
  for (const PageFile& file : page_files()) {
    if (path == file.path) return page_answer(file);
  }
  return std::nullopt;
}

std::optional<Response> Api::at_once(const Request& request) const {
  const std::string_view path = request.path();
  std::optional<Response> response;
  if (exists(path)) {
    for (const std::string_view route : {kClassifyPath, kEmbedPath, kAttendPath}) {
      if (path != route) continue;
      if (request.method != "POST") return wrong_method(route, request, "POST");
      if (reads_texts() && route != kClassifyPath) {
        return refusal(route, 404,
                       fmt::format("{} is for pictures; this model reads texts", route));
      }
      const std::string obstacle = type_obstacle(request.content_type, wanted_of(models_.front()));
      if (obstacle.empty()) return std::nullopt;
      return refusal(route, 415, obstacle);
    }
    response = answer_reading(request);
  }
  if (!response) {
    return refusal("other", 404,
                   fmt::format("there is nothing at '{}'; docs/server.md lists the paths", path));
  }
  if (request.method == "GET" || request.method == "HEAD") return response;
  return wrong_method(response->route, request, "GET");
}

std::unique_ptr<Work> Api::read(Request request) const {
  return std::make_unique<Work>(models_, options_.pictures, std::move(request));
}

void Api::run(const std::vector<Work*>& works) const {
  std::map<std::pair<const ServedModel*, bool>, std::vector<Work*>> alike;
  for (Work* work : works) alike[{&work->model(), work->embeds()}].push_back(work);
  for (const auto& [kind, some] : alike) run_alike(some);
}

void Api::run_alike(const std::vector<Work*>& works) const {
  const auto start = std::chrono::steady_clock::now();
  const auto refuse_all = [&](int status, const char* message) {
    for (Work* work : works) work->refuse(status, message);
  };
  std::optional<std::vector<float>> answers;
  try {
    answers = run_model(works.front()->model(), works, options_.most_together);
  } catch (const std::exception& error) {
    log("a batch of {} failed: {}", works.size(), error.what());
    return refuse_all(500, "unexpected failure; the server's log has it");
  }
  if (!answers) return refuse_all(503, "not answered in time; try again in a second");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  size_t items = 0;
  for (const Work* work : works) items += work->ready().size();
  const size_t each = items > 0 ? answers->size() / items : 0;
  const float* own = answers->data();
  for (Work* work : works) {
    const size_t count = work->ready().size();
    work->take_answers(own, took.count(), items);
    own += count * each;
  }
}

Response Api::handle(Request request) const {
  std::optional<Response> response = at_once(request);
  if (response) return *response;
  const std::unique_ptr<Work> work = read(std::move(request));
  work->decode();
  if (work->refused()) return work->take_response();
  if (work->attends()) {
    work->attend();
  } else {
    run({work.get()});
  }
  return work->take_response();
}

}  // namespace soft
