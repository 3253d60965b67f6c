// Counts right answers. A tally is made of sums only, so those of several ranks simply add up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "metric/average.h"

namespace soft {

// How many classes beat the right one: 0 means top-1 correct. Ties go to the lower class index; a
// logit that is not a number never wins.
int64_t rank_of(const float* logits, int64_t classes, int64_t label);

// -log softmax(logits)[label]
double cross_entropy(const float* logits, int64_t classes, int64_t label);

// The class with the highest logit; ties go to the lower index.
int64_t answer_of(const float* logits, int64_t classes);

// All in per cent; none where there is nothing to divide by.
struct ClassTally {
  int64_t images = 0;   // that belong to the class
  int64_t correct = 0;  // of these, answered with it
  int64_t answers = 0;  // how often it was the answer, rightly or not

  std::optional<double> recall() const;     // of its images, found
  std::optional<double> precision() const;  // of its answers, right
  std::optional<double> f1() const;         // harmonic mean of the two
};

class Tally {
 public:
  explicit Tally(int64_t classes) : per_class_(classes) {}

  void add(const float* logits, int64_t label);
  void add_wrong(int64_t label);  // a picture that got no answer; it has no loss

  int64_t images() const { return images_; }
  int64_t first() const { return first_; }
  int64_t first_five() const { return first_five_; }
  double top1() const { return percent(first_); }
  double top5() const { return percent(first_five_); }
  double loss() const { return loss_.mean(); }
  const std::vector<ClassTally>& per_class() const { return per_class_; }

 private:
  double percent(int64_t hits) const;

  int64_t images_ = 0;
  int64_t first_ = 0;       // right class on top
  int64_t first_five_ = 0;  // right class among the first five
  Average loss_;
  std::vector<ClassTally> per_class_;
};

}  // namespace soft
