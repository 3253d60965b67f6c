// Which classes are taken for which. Only pairs that occur are kept, so that thousands of classes
// cost no more than the pictures they are counted on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace soft {

class Confusion {
 public:
  static constexpr int64_t kUnanswered = -1;  // the answer to a picture that cannot be read

  explicit Confusion(int64_t classes = 0) : classes_(classes) {}

  void add(int64_t label, int64_t answer) { ++counts_[{label, answer}]; }

  int64_t classes() const { return classes_; }
  int64_t count(int64_t label, int64_t answer) const;
  bool has_unanswered() const;

  struct Cell {
    int64_t label, answer, count;
  };
  std::vector<Cell> cells() const;     // all that are not 0, row by row
  std::vector<Cell> mistakes() const;  // wrong answers, the most frequent first

 private:
  int64_t classes_;
  std::map<std::pair<int64_t, int64_t>, int64_t> counts_;
};

// CSV: a line and a column per class in the order of `names`, truth down, answers across; a last
// column for pictures that cannot be read where there are any.
void write_confusion(const std::string& path, const std::vector<std::string>& names,
                     const Confusion& confusion);

}  // namespace soft
