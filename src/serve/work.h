// One request on its way through the model: read, decoded, run, answered. Each step may be taken on
// another thread; whatever goes wrong becomes the response, or its item's share of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/attend.h"
#include "image/codec.h"
#include "serve/api.h"
#include "serve/upload.h"

namespace soft {

constexpr std::string_view kClassifyPath = "/v1/classify";
constexpr std::string_view kEmbedPath = "/v1/embed";
constexpr std::string_view kAttendPath = "/v1/attend";

// The route that a request's path is; kClassifyPath for any other.
std::string_view route_of(const Request& request);

Wanted wanted_of(const ServedModel& model);

// Which of the models a request asks; 400 for one that is not there.
constexpr std::string_view kBoxParameter = "box";
size_t chosen_model(const ServedModels& models, const Parameters& parameters);

class Work {
 public:
  // A picture or a text, and what becomes of it.
  struct Item {
    std::string bytes;
    std::vector<float> pixels;  // of a picture, [3, size, size]
    TextTokens tokens;          // of a text
    Json answer;                // of its own: classes, a vector, or an error
  };

  // Takes the request apart. The models must outlive the work.
  Work(const ServedModels& models, const PictureLimits& limits, Request request);

  const ServedModel& model() const { return *model_; }

  // What pictures announce, in pixels to go over; 0 for texts, or when nothing is left to decode.
  int64_t announced() const;
  void decode();

  bool refused() const { return refused_; }
  bool attends() const { return response_.route == kAttendPath; }
  bool embeds() const { return response_.route == kEmbedPath; }
  bool given_up() const { return patience_ != nullptr && patience_->over(); }

  // Those to classify or to embed.
  const std::vector<Item*>& ready() const { return ready_; }
  // What the model said of each: logits [items, classes], or vectors [items, C]. batch: how many
  // items ran together.
  void take_answers(const float* answers, double milliseconds, size_t batch);

  // One picture to attend to.
  const AttendInput& input() const { return input_; }
  const AttendRequest& query() const { return query_; }
  void attend();
  void take_rows(const AttendResult& result, double milliseconds);

  void refuse(int status, std::string_view message);
  Response take_response() { return std::move(response_); }

 private:
  void read(Request request);
  void read_attend(const Parameters& parameters);
  std::string name_of(const Item& item) const;  // for errors
  void decode_one(Item& item, DecodeOptions& options);
  void decode_picture(Item& item, DecodeOptions& options);
  Json answer_of(const Item& item, const float* own) const;
  void guarded(const std::function<void()>& step);
  void answer(Json json, double milliseconds, size_t batch);

  const ServedModels& models_;
  const ServedModel* model_;  // of them, the one that is asked
  const PictureLimits& limits_;
  const std::shared_ptr<Patience> patience_;
  bool refused_ = false;
  bool several_ = false;  // the answer is a list
  int top_ = 5;
  int size_ = 0;             // to attend at
  double milliseconds_ = 0;  // of reading and decoding
  std::vector<Item> items_;
  std::vector<Item*> ready_;  // those that could be decoded
  AttendInput input_;
  AttendRequest query_;
  Response response_;
};

}  // namespace soft
