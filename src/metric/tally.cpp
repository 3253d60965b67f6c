#include "metric/tally.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

std::optional<double> percentage(int64_t part, int64_t whole) {
  if (whole == 0) return std::nullopt;
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

int64_t rank_of(const float* logits, int64_t classes, int64_t label) {
  const float own = logits[label];
  if (std::isnan(own)) return classes;
  int64_t rank = 0;
  for (int64_t i = 0; i < classes; ++i) {
    if (logits[i] > own || (logits[i] == own && i < label)) ++rank;
  }
  return rank;
}

double cross_entropy(const float* logits, int64_t classes, int64_t label) {
  const double highest = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) sum += std::exp(logits[i] - highest);
  return highest + std::log(sum) - logits[label];
}

int64_t answer_of(const float* logits, int64_t classes) {
  return std::max_element(logits, logits + classes) - logits;
}

std::optional<double> ClassTally::recall() const { return percentage(correct, images); }
std::optional<double> ClassTally::precision() const { return percentage(correct, answers); }
std::optional<double> ClassTally::f1() const { return percentage(2 * correct, images + answers); }

void Tally::add(const float* logits, int64_t label) {
  const auto classes = static_cast<int64_t>(per_class_.size());
  const int64_t rank = rank_of(logits, classes, label);
  add_wrong(label);
  first_ += rank < 1 ? 1 : 0;
  first_five_ += rank < 5 ? 1 : 0;
  per_class_[label].correct += rank < 1 ? 1 : 0;
  ++per_class_[answer_of(logits, classes)].answers;
  loss_.add(cross_entropy(logits, classes, label));
}

void Tally::add_wrong(int64_t label) {
  ++images_;
  ++per_class_[label].images;
}

double Tally::percent(int64_t hits) const { return percentage(hits, images_).value_or(0); }

}  // namespace soft
