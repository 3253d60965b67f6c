// Requests to the server, from the target and the content type down to forms, JSON and the picture
// inside. An input is "METHOD TARGET\nCONTENT-TYPE\nBODY".
#include <sstream>

#include "base/json.h"
#include "base/parallel.h"
#include "fuzz/fuzz.h"
#include "serve/api.h"

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
  const ModelSpec spec = find_model("soft-pico");
  Preprocessing preprocessing;
  preprocessing.size = preprocessing.short_side = spec.image_size;
  return {Packed(random_weights(spec, 1), spec), preprocessing, {}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Metrics metrics;
  static const Api api(small_model(), metrics);
  static Workspace workspace;
  const Response response =
      api.handle(workspace, request_of({reinterpret_cast<const char*>(data), size}));
  fuzz::require(response.status >= 200 && response.status < 600, "a status is one of HTTP's");
  fuzz::require(response.status != 500, "no request is the server's own fault");
  if (response.content_type != "application/json") return 0;
  const Json answer = parse_json(response.body, "the answer");
  fuzz::require(response.status < 400 || answer.contains("error"), "a refusal says why");
  return 0;
}
