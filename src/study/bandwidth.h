// What the machine's memory allows.
#pragma once

#include <vector>

namespace soft {

// a = b + s·c over arrays that no cache holds, on threads() cores.
class Triad {
 public:
  Triad();
  void run();
  static double gigabytes();  // read and written by one run

 private:
  std::vector<float> a_, b_, c_;
};

}  // namespace soft
