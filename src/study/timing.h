// Times several ways of doing something side by side: in turns, so that a slow moment of the
// machine hits all of them alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace soft {

struct Timing {
  std::vector<double> seconds;  // of every timed run

  double best() const;
  double median() const;
  double spread() const;  // between the quartiles
};

struct Contestant {
  std::string name;
  std::function<void()> run;
};

struct TimingPlan {
  int repeat = 0;  // timed runs of each; 0: at least five, and as many as fit into `seconds`
  double seconds = 2;
  std::function<void(const std::string& text)> progress;  // optional
};

// One timing for each contestant. Every one is run untimed first.
std::vector<Timing> time_in_turns(const std::vector<Contestant>& contestants,
                                  const TimingPlan& plan = {});

}  // namespace soft
