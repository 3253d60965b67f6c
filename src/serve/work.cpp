#include "serve/work.h"

#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "image/codec.h"
#include "metric/probability.h"
#include "serve/facts.h"

namespace soft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostPixels = kMaxImagePixels;  // of a side

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int choice(const Parameters& parameters, std::string_view name) {
  if (parameters.is(name, "all")) return AttendRequest::kAll;
  return parameters.integer(name, {1, 1000, AttendRequest::kDefault});
}

std::string class_name(const ServedModel& model, int64_t index) {
  const auto& names = model.class_names;
  return index < static_cast<int64_t>(names.size()) ? names[index] : fmt::format("class {}", index);
}

}  // namespace

Work::Work(const ServedModel& model, const Request& request) : model_(model) {
  const bool classify = request.path() == kClassifyPath;
  response_.route = classify ? kClassifyPath : kAttendPath;
  guarded([&] {
    const Clock::time_point start = Clock::now();
    const Upload upload = read_upload(request);
    classify ? read_classify(upload) : read_attend(upload);
    decoding_ = milliseconds_since(start);
  });
}

// The request's own mistakes are 400, a picture or size that cannot be used is 422.
void Work::guarded(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    refuse(error.fault() == Fault::kUsage ? 400 : 422, error.what());
  } catch (const std::bad_alloc&) {
    refuse(503, "out of memory; try again later or with a smaller picture");
  } catch (const std::exception& error) {
    log("{}: unexpected failure: {}", response_.route, error.what());
    refuse(500, "unexpected failure; the server's log has the reason");
  }
}

Image Work::decode(const Upload& upload) const {
  const auto* bytes = reinterpret_cast<const uint8_t*>(upload.picture.data());
  return decode_image(bytes, upload.picture.size(), "image", {true});
}

void Work::read_classify(const Upload& upload) {
  upload.parameters.allow({"top"});
  top_ = upload.parameters.integer("top", {1, 100'000, 5});
  const Image image = evaluation_crop(decode(upload), model_.preprocessing);
  pixels_.resize(image.rgb.size());
  normalise(image, model_.preprocessing, pixels_.data());
}

void Work::read_attend(const Upload& upload) {
  const Parameters& parameters = upload.parameters;
  parameters.allow({"x", "y", "stage", "layer", "head", "size"});
  query_.x = parameters.required_integer("x", 0, kMostPixels);
  query_.y = parameters.required_integer("y", 0, kMostPixels);
  query_.stage = choice(parameters, "stage");
  query_.layer = choice(parameters, "layer");
  query_.head = choice(parameters, "head");
  const ModelSpec& spec = model_.packed.spec();
  const int size = parameters.integer("size", {kSmallestSide, kLargestSide, spec.image_size});
  check_size(spec, size);
  input_ = attend_input(decode(upload), model_.preprocessing, size);
}

void Work::take_logits(const float* logits, double milliseconds, size_t batch) {
  Json top = Json::array();
  for (const Ranked& ranked : top_classes(logits, model_.packed.spec().classes, top_)) {
    top.push_back({{"class", ranked.index},
                   {"name", class_name(model_, ranked.index)},
                   {"p", ranked.probability}});
  }
  answer({{"top", std::move(top)}}, milliseconds, batch);
}

void Work::run_alone(Workspace& workspace) {
  if (input_.pixels.empty()) return;  // refused, or part of the batch
  guarded([&] {
    const Clock::time_point start = Clock::now();
    const AttendResult result = attend(model_.packed, workspace, input_, query_);
    Json json = to_json(result);
    json["token"] = result.token;
    answer(std::move(json), milliseconds_since(start), 1);
  });
}

void Work::answer(Json json, double milliseconds, size_t batch) {
  json["cost"] = {{"decode_ms", decoding_},
                  {"model_ms", milliseconds},
                  {"batch", batch},
                  {"memory_bytes", resident_bytes()}};
  response_.body = json.dump();
}

void Work::refuse(int status, std::string_view message) {
  const std::string_view route = response_.route;
  response_ = error_response(status, message);
  response_.route = route;
  pixels_.clear();
  input_.pixels.clear();
}

}  // namespace soft
