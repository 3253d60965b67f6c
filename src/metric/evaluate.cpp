#include "metric/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/seconds.h"

namespace soft {
namespace {

Prediction predict(const float* logits, int64_t classes, int64_t index, int64_t label) {
  const int64_t answer = answer_of(logits, classes);
  return {index, label, answer, std::exp(-cross_entropy(logits, classes, answer))};
}

void check_logits(const std::vector<float>& logits, const Batch& batch, int64_t classes) {
  if (static_cast<int64_t>(logits.size()) == batch.count * classes) return;
  fail("{} logits for {} pictures; the data have {} classes, the model another number",
       logits.size(), batch.count, classes);
}

class Evaluator {
 public:
  Evaluator(const Dataset& dataset, bool predictions)
      : classes_(dataset.class_count()), predictions_(predictions), tally_(classes_) {
    result_.confusion = Confusion(classes_);
  }

  void add(const Batch& batch, const LogitsFunction& logits_of) {
    for (const BrokenPicture& picture : batch.broken) add_broken(picture);
    if (batch.count == 0) return;
    const std::vector<float> logits = logits_of(batch);  // [N, classes]
    check_logits(logits, batch, classes_);
    for (int64_t j = 0; j < batch.count; ++j) {
      const float* row = logits.data() + j * classes_;
      tally_.add(row, batch.labels[j]);
      result_.confusion.add(batch.labels[j], answer_of(row, classes_));
      if (predictions_) {
        result_.predictions.push_back(predict(row, classes_, batch.indices[j], batch.labels[j]));
      }
    }
  }

  int64_t images() const { return tally_.images(); }

  Evaluation finish() {
    result_.first = tally_.first();
    result_.first_five = tally_.first_five();
    result_.top1 = tally_.top1();
    result_.top5 = tally_.top5();
    result_.loss = tally_.loss();
    result_.images = tally_.images();
    result_.per_class = tally_.per_class();
    std::sort(result_.predictions.begin(), result_.predictions.end(),
              [](const Prediction& a, const Prediction& b) { return a.index < b.index; });
    return std::move(result_);
  }

 private:
  void add_broken(const BrokenPicture& picture) {
    tally_.add_wrong(picture.label);
    result_.confusion.add(picture.label, Confusion::kUnanswered);
    ++result_.broken;
    if (predictions_) result_.predictions.push_back({picture.index, picture.label, -1, 0});
  }

  int64_t classes_;
  bool predictions_;
  Tally tally_;
  Evaluation result_;
};

}  // namespace

Evaluation evaluate(Loader& loader, const LogitsFunction& logits, const EvaluateOptions& options) {
  if (loader.options().training) fail("evaluation needs a loader that does not augment");
  const auto begin = std::chrono::steady_clock::now();
  Evaluator evaluator(loader.dataset(), options.predictions);
  loader.start(0);
  while (const Batch* batch = loader.next()) {
    evaluator.add(*batch, logits);
    if (options.progress) options.progress(evaluator.images(), loader.dataset().size());
  }
  Evaluation result = evaluator.finish();
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace soft
