#include "serve/work.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
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

Json top_json(const ServedModel& model, const float* logits, int top) {
  Json list = Json::array();
  for (const Ranked& ranked : top_classes(logits, model.packed.spec().classes, top)) {
    list.push_back({{"class", ranked.index},
                    {"name", class_name(model, ranked.index)},
                    {"p", ranked.probability}});
  }
  return list;
}

const uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

Work::Work(const ServedModel& model, const PictureLimits& limits, Request request)
    : model_(model),
      limits_(limits),
      patience_(request.patience),
      attends_(request.path() == kAttendPath) {
  response_.route = attends_ ? kAttendPath : kClassifyPath;
  guarded([&] { read(std::move(request)); });
}

// The request's own mistakes are 400, a picture or size that cannot be used is 422.
void Work::guarded(const std::function<void()>& step) {
  const Clock::time_point start = Clock::now();
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
  milliseconds_ += milliseconds_since(start);
}

void Work::read(Request request) {
  Upload upload = read_upload(std::move(request), limits_.pictures);
  several_ = upload.several;
  if (attends_) {
    if (several_) fail_usage("attend takes one picture a request; send them one by one");
    read_attend(upload.parameters);
  } else {
    upload.parameters.allow({"top"});
    top_ = upload.parameters.integer("top", {1, 100'000, 5});
  }
  for (std::string& bytes : upload.pictures) pictures_.push_back({std::move(bytes), {}, {}});
}

void Work::read_attend(const Parameters& parameters) {
  parameters.allow({"x", "y", "stage", "layer", "head", "size"});
  query_.x = parameters.required_integer("x", 0, kMostPixels);
  query_.y = parameters.required_integer("y", 0, kMostPixels);
  query_.stage = choice(parameters, "stage");
  query_.layer = choice(parameters, "layer");
  query_.head = choice(parameters, "head");
  const ModelSpec& spec = model_.packed.spec();
  size_ = parameters.integer("size", {kSmallestSide, kLargestSide, spec.image_size});
  check_size(spec, size_);
}

int64_t Work::announced() const {
  int64_t sum = 0;
  for (const Picture& picture : pictures_) {
    sum += announced_work(bytes_of(picture.bytes), picture.bytes.size());
  }
  return sum;
}

void Work::decode() {
  DecodeOptions options{true, limits_.decode};
  options.limits.given_up = [this] { return given_up(); };
  guarded([&] {
    for (Picture& picture : pictures_) {
      try {
        decode_one(picture, options);
      } catch (const Error& error) {  // of a list, the others are still answered
        if (!several_) throw;
        picture.answer = Json::parse(error_response(422, error.what()).body);
      }
      std::string().swap(picture.bytes);
    }
  });
}

// The work of all pictures together stays below what one may take.
void Work::decode_one(Picture& picture, DecodeOptions& options) {
  const std::string name =
      several_ ? fmt::format("images[{}]", &picture - pictures_.data()) : "image";
  const uint8_t* bytes = bytes_of(picture.bytes);
  const size_t size = picture.bytes.size();
  const Image image = decode_image(bytes, size, name, options);
  options.limits.work -= std::min(options.limits.work, announced_work(bytes, size));
  if (attends_) {
    input_ = attend_input(image, model_.preprocessing, size_);
    return;
  }
  const Image cropped = evaluation_crop(image, model_.preprocessing);
  picture.pixels.resize(cropped.rgb.size());
  normalise(cropped, model_.preprocessing, picture.pixels.data());
  ready_.push_back(&picture);
}

void Work::take_logits(const float* logits, double milliseconds, size_t batch) {
  for (size_t i = 0; i < ready_.size(); ++i) {
    const float* own = logits + static_cast<int64_t>(i) * model_.packed.spec().classes;
    ready_[i]->answer = {{"top", top_json(model_, own, top_)}};
  }
  if (!several_) return answer(std::move(pictures_.front().answer), milliseconds, batch);
  Json results = Json::array();
  for (Picture& picture : pictures_) results.push_back(std::move(picture.answer));
  answer({{"results", std::move(results)}}, milliseconds, batch);
}

void Work::attend(Workspace& workspace) {
  guarded([&] {
    const Clock::time_point start = Clock::now();
    const AttendResult result = soft::attend(model_.packed, workspace, input_, query_);
    take_rows(result, milliseconds_since(start));
  });
}

void Work::take_rows(const AttendResult& result, double milliseconds) {
  Json json = to_json(result);
  json["token"] = result.token;
  answer(std::move(json), milliseconds, 1);
}

void Work::answer(Json json, double milliseconds, size_t batch) {
  json["cost"] = {{"decode_ms", milliseconds_},
                  {"model_ms", milliseconds},
                  {"batch", batch},
                  {"memory_bytes", resident_bytes()}};
  response_.body = json.dump();
}

void Work::refuse(int status, std::string_view message) {
  const std::string_view route = response_.route;
  response_ = error_response(status, message);
  response_.route = route;
  refused_ = true;
  ready_.clear();
  pictures_.clear();
}

}  // namespace soft
