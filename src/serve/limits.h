// What a client may ask of the server before it is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace soft {

struct Limits {
  size_t header_bytes = size_t{8} << 10;  // and of what may follow a chunked body
  uint64_t body_bytes = uint64_t{20} << 20;
  uint64_t all_bodies_bytes = uint64_t{512} << 20;  // of all connections together
  size_t connections = 512;                         // when there are more, the idlest one goes
  size_t spare_places = 16;                         // beyond these, for health checks alone
  std::chrono::milliseconds header_time{5'000};
  std::chrono::milliseconds body_time{10'000};
  std::chrono::milliseconds answer_time{20'000};  // from the last byte of a request to its answer
  std::chrono::milliseconds write_time{30'000};
  std::chrono::milliseconds idle_time{60'000};  // between two requests of a connection
  std::chrono::milliseconds stall_time{
      1'000};  // reading or writing without progress, before it counts as idle
  std::chrono::milliseconds linger_time{2'000};  // for a refused client to read why
  std::chrono::milliseconds drain_time{30'000};  // from the signal to the end
};

}  // namespace soft
