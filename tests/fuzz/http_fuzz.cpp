// Requests to the server, from the target and the content type down to forms, JSON and the pictures
// inside. An input is "METHOD TARGET\nCONTENT-TYPE\nBODY". What the model would say is made up: its
// numbers do not depend on strangers, and without it thousands of inputs a second go through.
#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "base/parallel.h"
#include "fuzz/fuzz.h"
#include "serve/api.h"
#include "serve/work.h"

using namespace soft;

namespace {

Request request_of(const std::string& input) {
  std::istringstream in(input);
  Request request;
  std::string start;
  std::getline(in, start);
  std::getline(in, request.content_type);
  const size_t space = start.find(' ');
  request.method = start.substr(0, space);
  request.target = space == std::string::npos ? "" : start.substr(space + 1);
  request.body.assign(std::istreambuf_iterator<char>(in), {});
  return request;
}

ServedModel small_model() {
  set_threads(1);
  ModelOptions options;
  options.model = "soft-pico";
  return ServedModel(Runner(load_model(options, 1), Engine::kNative));
}

// Small pictures come through; large ones are the image target's.
ApiOptions small_pictures() {
  ApiOptions options;
  options.pictures.decode.pixels = 1 << 14;
  options.pictures.decode.work = 1 << 17;
  return options;
}

void attend_to_nothing(Work& work, const ModelSpec& spec) {
  Card card;
  card.spec = spec;
  Answers zeros;
  zeros.rows = [&](const ImageBatch& images, const RowQuery& query) {
    const int64_t heads = int64_t{query.layers} * spec.stages[query.stage].heads;
    AttentionRows rows{{{1, heads, 1 + stage_grid(spec, query.stage, images.size).size()}, {}},
                       std::vector<double>(heads)};
    rows.maps.data.resize(static_cast<size_t>(rows.maps.shape[1] * rows.maps.shape[2]));
    return rows;
  };
  zeros.shares = [](const ImageBatch&) { return std::vector<HeadShare>(); };
  try {
    work.take_rows(attend(card, zeros, work.input(), work.query()), 0);
  } catch (const Error& error) {
    work.refuse(error.fault() == Fault::kUsage ? 400 : 422, error.what());
  }
}

Response answer_to(const Api& api, Request request) {
  static const ModelSpec spec = find_model("soft-pico");
  static const std::vector<float> answers(
      64 * static_cast<size_t>(std::max(spec.classes, spec.stages.back().dim)));
  std::optional<Response> at_once = api.at_once(request);
  if (at_once) return *at_once;
  const std::unique_ptr<Work> work = api.read(std::move(request));
  work->decode();
  if (!work->refused() && work->attends()) attend_to_nothing(*work, spec);
  if (!work->refused() && !work->attends()) {
    work->take_answers(answers.data(), 0, work->ready().size());
  }
  return work->take_response();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Metrics metrics;
  static const Api api({small_model()}, metrics, small_pictures());
  const Response response = answer_to(api, request_of({reinterpret_cast<const char*>(data), size}));
  fuzz::require(response.status >= 200 && response.status < 600, "a status is one of HTTP's");
  fuzz::require(response.status != 500, "no request is the server's own fault");
  if (response.content_type != "application/json") return 0;
  const Json answer = parse_json(response.body, "the answer");
  fuzz::require(response.status < 400 || answer.contains("error"), "a refusal says why");
  return 0;
}
