// Several ranks in one process, each in a thread of its own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "group/gloo.h"
#include "rank/socket.h"
#include "support/support.h"

namespace soft::test {

inline void in_ranks(int world, const std::function<void(Group&)>& work) {
  const int port = port_of(listen_on());
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      GlooRequest request;
      request.place.rank = rank;
      request.place.world = world;
      request.place.master = "127.0.0.1";
      request.place.port = port;
      request.timeout = std::chrono::seconds(30);
      try {
        const auto group = join_gloo(request);
        work(*group);
        group->barrier();
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace soft::test
