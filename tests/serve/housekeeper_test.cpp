#include "serve/housekeeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "serve/metrics.h"

namespace soft {
namespace {

using std::chrono::milliseconds;

#ifndef __SANITIZE_ADDRESS__  // whose allocator keeps what is freed, to see who uses it

// Blocks too small to be given back by themselves, below one that stays.
void litter(std::unique_ptr<char[]>& stays) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 20'000; ++i) blocks.push_back(std::make_unique<char[]>(4'000));
  stays = std::make_unique<char[]>(4'000);
}

bool falls_below(int64_t bytes) {
  for (int i = 0; i < 200; ++i) {
    if (resident_bytes() < bytes) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

TEST(Housekeeper, GivesBackWhatRequestsLeftBehind) {
  std::unique_ptr<char[]> stays;
  litter(stays);
  const int64_t littered = resident_bytes();
  std::atomic<int64_t> requests{0};
  const Housekeeper housekeeper([&] { return requests.load(); }, milliseconds(10));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_GT(resident_bytes(), littered - 20'000'000) << "nothing happened: nothing is done";
  ++requests;
  EXPECT_TRUE(falls_below(littered - 60'000'000));
}

#endif

TEST(Housekeeper, EndsAtOnce) {
  const Housekeeper housekeeper([] { return int64_t{0}; }, std::chrono::hours(1));
}

}  // namespace
}  // namespace soft
