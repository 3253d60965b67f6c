// One request on its way through the model: read, run, answer. Whatever goes wrong becomes the
// response.
#pragma once

#include <functional>
#include <vector>

#include "engine/attend.h"
#include "serve/api.h"
#include "serve/upload.h"

namespace soft {

constexpr std::string_view kClassifyPath = "/v1/classify";
constexpr std::string_view kAttendPath = "/v1/attend";

class Work {
 public:
  // Decodes the picture and prepares it.
  Work(const ServedModel& model, const Request& request);

  // [3, size, size] of a picture to classify, which the batch runs; empty for other requests.
  const std::vector<float>& pixels() const { return pixels_; }
  void take_logits(const float* logits, double milliseconds, size_t batch);

  // Answers what is not a picture to classify.
  void run_alone(Workspace& workspace);

  // The end of a batch that threw.
  void refuse(int status, std::string_view message);
  Response take_response() { return std::move(response_); }

 private:
  void read_classify(const Upload& upload);
  void read_attend(const Upload& upload);
  Image decode(const Upload& upload) const;
  void guarded(const std::function<void()>& step);
  void answer(Json json, double milliseconds, size_t batch);

  const ServedModel& model_;
  int top_ = 5;
  double decoding_ = 0;        // milliseconds
  std::vector<float> pixels_;  // to classify,
  AttendInput input_;          // or to attend to
  AttendRequest query_;
  Response response_;
};

}  // namespace soft
