#include "serve/work.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "facade/input.h"
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
  if (name == "stage" && parameters.is(name, "best")) return AttendRequest::kBest;
  return parameters.integer(name, {1, 1000, AttendRequest::kDefault});
}

Json top_json(const ServedModel& model, const float* logits, int top) {
  Json list = Json::array();
  for (const Ranked& ranked : top_classes(logits, model.classes(), top)) {
    list.push_back({{"class", ranked.index},
                    {"name", model.class_name(ranked.index)},
                    {"p", ranked.probability}});
  }
  return list;
}

const uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

std::string_view route_of(const Request& request) {
  for (const std::string_view route : {kAttendPath, kEmbedPath}) {
    if (request.path() == route) return route;
  }
  return kClassifyPath;
}

Wanted wanted_of(const ServedModel& model) {
  return model.reads_texts() ? Wanted::kTexts : Wanted::kPictures;
}

size_t chosen_model(const ServedModels& models, const Parameters& parameters) {
  if (!parameters.has(kBoxParameter)) return 0;
  const std::string name = parameters.text(kBoxParameter);
  std::vector<std::string_view> names;
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].box.empty())
      fail_usage("box='{}': one model is served, and it has no name", name);
    if (models[i].box == name) return i;
    names.push_back(models[i].box);
  }
  fail_usage("box='{}'{} is not served; there are: {}", name, hint(name, names),
             fmt::join(names, ", "));
}

Work::Work(const ServedModels& models, const PictureLimits& limits, Request request)
    : models_(models), model_(&models.front()), limits_(limits), patience_(request.patience) {
  response_.route = route_of(request);
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
    refuse(503, model_->reads_texts() ? "out of memory; try again later"
                                      : "out of memory; try again later or with a smaller picture");
  } catch (const std::exception& error) {
    log("{}: unexpected failure: {}", response_.route, error.what());
    refuse(500, "unexpected failure; the server's log has the reason");
  }
  milliseconds_ += milliseconds_since(start);
}

void Work::read(Request request) {
  Upload upload = read_upload(std::move(request), limits_.pictures, wanted_of(*model_));
  several_ = upload.several;
  model_ = &models_[chosen_model(models_, upload.parameters)];
  if (attends()) {
    if (several_) fail_usage("attend takes one picture a request; send them one by one");
    read_attend(upload.parameters);
  } else if (embeds()) {
    upload.parameters.allow({kBoxParameter});
  } else {
    upload.parameters.allow({"top", kBoxParameter});
    top_ = upload.parameters.integer("top", {1, 100'000, 5});
  }
  for (std::string& bytes : upload.items) items_.push_back({std::move(bytes), {}, {}, {}});
}

void Work::read_attend(const Parameters& parameters) {
  parameters.allow({"x", "y", "stage", "layer", "head", "size", kBoxParameter});
  query_.x = parameters.required_integer("x", 0, kMostPixels);
  query_.y = parameters.required_integer("y", 0, kMostPixels);
  query_.stage = choice(parameters, "stage");
  query_.layer = choice(parameters, "layer");
  query_.head = choice(parameters, "head");
  const ModelSpec& spec = model_->spec();
  size_ = parameters.integer("size", {kSmallestSide, kLargestSide, spec.image_size});
  check_size(spec, size_);
}

int64_t Work::announced() const {
  int64_t sum = 0;
  if (model_->reads_texts()) return sum;
  for (const Item& item : items_) sum += announced_work(bytes_of(item.bytes), item.bytes.size());
  return sum;
}

void Work::decode() {
  DecodeOptions options{true, limits_.decode};
  options.limits.given_up = [this] { return given_up(); };
  guarded([&] {
    for (Item& item : items_) {
      try {
        decode_one(item, options);
      } catch (const Error& error) {  // of a list, the others are still answered
        if (!several_) throw;
        item.answer = Json::parse(error_response(422, error.what()).body);
      }
      std::string().swap(item.bytes);
    }
  });
}

std::string Work::name_of(const Item& item) const {
  const char* one = model_->reads_texts() ? "text" : "image";
  return several_ ? fmt::format("{}s[{}]", one, &item - items_.data()) : one;
}

void Work::decode_one(Item& item, DecodeOptions& options) {
  if (!model_->reads_texts()) return decode_picture(item, options);
  item.tokens = model_->texts->read_text(item.bytes, "'" + name_of(item) + "'");
  ready_.push_back(&item);
}

// The work of all pictures together stays below what one may take.
void Work::decode_picture(Item& item, DecodeOptions& options) {
  const uint8_t* bytes = bytes_of(item.bytes);
  const size_t size = item.bytes.size();
  const Image image = decode_image(bytes, size, name_of(item), options);
  options.limits.work -= std::min(options.limits.work, announced_work(bytes, size));
  if (attends()) {
    input_ = attend_input(image, model_->preprocessing, size_);
    return;
  }
  item.pixels = prepared(image, model_->preprocessing);
  ready_.push_back(&item);
}

void Work::take_answers(const float* answers, double milliseconds, size_t batch) {
  const int64_t each = embeds() ? model_->embedding : model_->classes();
  for (size_t i = 0; i < ready_.size(); ++i) {
    ready_[i]->answer = answer_of(*ready_[i], answers + static_cast<int64_t>(i) * each);
  }
  if (!several_) return answer(std::move(items_.front().answer), milliseconds, batch);
  Json results = Json::array();
  for (Item& item : items_) results.push_back(std::move(item.answer));
  answer({{"results", std::move(results)}}, milliseconds, batch);
}

Json Work::answer_of(const Item& item, const float* own) const {
  if (embeds()) return {{"vector", std::vector<float>(own, own + model_->embedding)}};
  Json json{{"top", top_json(*model_, own, top_)}};
  if (!model_->reads_texts()) return json;
  json["tokens"] = item.tokens.ids.size();
  json["cut"] = item.tokens.cut;
  return json;
}

void Work::attend() {
  guarded([&] {
    const Clock::time_point start = Clock::now();
    const Runner& runner = *model_->attending;
    const AttendResult result = soft::attend(runner.card(), runner.answers(), input_, query_);
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
  items_.clear();
}

}  // namespace soft
