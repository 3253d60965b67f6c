// A group over TCP: c10d's store to meet, Gloo's rings to exchange, and a watcher beside them.
#pragma once

#include <chrono>

#include "group/group.h"
#include "rank/place.h"

namespace soft {

struct GlooRequest {
  RankPlace place;
  std::chrono::milliseconds timeout{60'000};  // of meeting, of every exchange and of silence
  std::string program;                        // must be the same on all ranks
  // Called from another thread when a rank is lost, with a line that names it.
  std::function<void(const std::string& text)> lost;
};

// Meets the other ranks. An Error says who is missing, which rank runs another program, or why rank
// 0 cannot be reached.
std::unique_ptr<Group> join_gloo(const GlooRequest& request);

}  // namespace soft
