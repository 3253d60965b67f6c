#include "serve/housekeeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "serve/metrics.h"

namespace soft {
namespace {

using std::chrono::milliseconds;

#if !SOFT_SANITIZED  // sanitizers have allocators of their own, which keep what is freed

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

// The allocator's own limit follows the largest block that was ever freed.
TEST(Housekeeper, AThreadThatLivesOnKeepsLittleOfWhatItFreed) {
  std::make_unique<char[]>(30'000'000).reset();
  const Housekeeper housekeeper([] { return int64_t{0}; }, std::chrono::hours(1));
  std::promise<void> taken, seen, freed, over;
  const int64_t before = resident_bytes();
  std::thread other([&] {
    std::vector<std::unique_ptr<char[]>> blocks;
    blocks.reserve(10'000);  // in front of them; behind them is nothing
    for (int i = 0; i < 10'000; ++i) blocks.push_back(std::make_unique<char[]>(4'000));
    taken.set_value();
    seen.get_future().wait();
    blocks.clear();
    freed.set_value();
    over.get_future().wait();
  });
  taken.get_future().wait();
  EXPECT_GT(resident_bytes(), before + 30'000'000);
  seen.set_value();
  freed.get_future().wait();
  EXPECT_LT(resident_bytes(), before + 10'000'000);
  over.set_value();
  other.join();
}

#endif

TEST(Housekeeper, EndsAtOnce) {
  const Housekeeper housekeeper([] { return int64_t{0}; }, std::chrono::hours(1));
}

}  // namespace
}  // namespace soft
