#include "metric/tally.h"

#include <algorithm>
#include <cmath>

namespace soft {

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

double ClassTally::accuracy() const {
  return images > 0 ? 100.0 * static_cast<double>(correct) / static_cast<double>(images) : 0;
}

void Tally::add(const float* logits, int64_t label) {
  const auto classes = static_cast<int64_t>(per_class_.size());
  const int64_t rank = rank_of(logits, classes, label);
  add_wrong(label);
  first_ += rank < 1 ? 1 : 0;
  first_five_ += rank < 5 ? 1 : 0;
  per_class_[label].correct += rank < 1 ? 1 : 0;
  loss_.add(cross_entropy(logits, classes, label));
}

void Tally::add_wrong(int64_t label) {
  ++images_;
  ++per_class_[label].images;
}

double Tally::percent(int64_t hits) const {
  return images_ > 0 ? 100.0 * static_cast<double>(hits) / static_cast<double>(images_) : 0;
}

}  // namespace soft
