#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "support/support.h"

namespace soft {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20, kGigabyte = int64_t{1} << 30;

TEST(Memory, SomeIsAvailableAndLessThanAnybodyHas) {
  EXPECT_GT(available_memory(), int64_t{1} << 20);
  EXPECT_LT(available_memory(), int64_t{1} << 50);
}

TEST(Memory, IsToldInTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(12), "12.0 bytes");
  EXPECT_EQ(bytes_text(3.2e9), "3.2 GB");
  EXPECT_EQ(bytes_text(7e15), "7.0 PB");
}

// A machine with 64 GB to give, and what a test writes into its /proc and /sys.
class FakeMachine {
 public:
  FakeMachine() { put("proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: 67108864 kB\n"); }

  void put(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path(file);
    std::filesystem::create_directories(path.parent_path());
    test::write_file(path.string(), text);
  }
  void mount(const std::string& within, const std::string& where, const std::string& rest) const {
    put("proc/self/mountinfo", "22 1 0:20 / / rw - ext4 /dev/vda rw\n31 22 0:26 " + within + " " +
                                   where + " rw,nosuid shared:4 - " + rest + "\n");
  }
  int64_t available() const { return available_memory(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

std::string megabytes(int64_t count) { return std::to_string(count * kMegabyte) + "\n"; }

std::string stat_line(const std::string& key, int64_t count) {
  return key + " " + megabytes(count);
}

TEST(Memory, IsWhatTheSystemHasWhereNothingLimitsIt) {
  const FakeMachine machine;
  EXPECT_EQ(machine.available(), 64 * kGigabyte);
}

TEST(Memory, IsUnknownOnAMachineThatSaysNothing) {
  const test::TemporaryFolder empty;
  EXPECT_EQ(available_memory(empty.path()), std::numeric_limits<int64_t>::max());
}

TEST(Memory, OfAGroupCountsWhatOnlyCachesFilesAsFree) {
  const FakeMachine machine;
  machine.mount("/", "/sys/fs/cgroup", "cgroup2 cgroup2 rw");
  machine.put("proc/self/cgroup", "0::/\n");
  machine.put("sys/fs/cgroup/memory.max", megabytes(1000));
  machine.put("sys/fs/cgroup/memory.current", megabytes(990));
  EXPECT_EQ(machine.available(), 10 * kMegabyte);
  machine.put("sys/fs/cgroup/memory.stat", stat_line("anon", 90) + stat_line("inactive_file", 500) +
                                               stat_line("active_file", 300) +
                                               stat_line("slab_reclaimable", 50) +
                                               stat_line("slab_unreclaimable", 50));
  EXPECT_EQ(machine.available(), 860 * kMegabyte);
}

TEST(Memory, OfAGroupIsLimitedByThoseAroundIt) {
  const FakeMachine machine;
  machine.mount("/", "/sys/fs/cgroup", "cgroup2 cgroup2 rw");
  machine.put("proc/self/cgroup", "0::/user.slice/job\n");
  machine.put("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  machine.put("sys/fs/cgroup/user.slice/job/memory.current", megabytes(5));
  EXPECT_EQ(machine.available(), 64 * kGigabyte);
  machine.put("sys/fs/cgroup/user.slice/memory.max", megabytes(700));
  machine.put("sys/fs/cgroup/user.slice/memory.current", megabytes(200));
  EXPECT_EQ(machine.available(), 500 * kMegabyte);
  machine.put("sys/fs/cgroup/user.slice/job/memory.high", megabytes(105));
  EXPECT_EQ(machine.available(), 100 * kMegabyte);
}

TEST(Memory, OfAContainerThatSeesItsOwnGroupAsTheTop) {
  const FakeMachine machine;  // version 1, without a namespace: /proc names the host's path
  machine.mount("/docker/abc", "/sys/fs/cgroup/memory", "cgroup cgroup rw,memory");
  machine.put("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", megabytes(400));
  machine.put("sys/fs/cgroup/memory/memory.usage_in_bytes", megabytes(390));
  machine.put("sys/fs/cgroup/memory/memory.stat", stat_line("inactive_file", 1) +
                                                      stat_line("total_inactive_file", 100) +
                                                      stat_line("total_active_file", 10));
  EXPECT_EQ(machine.available(), 120 * kMegabyte);
}

TEST(Memory, OfNestedGroupsOfVersionOne) {
  const FakeMachine machine;
  machine.mount("/", "/sys/fs/cgroup/memory", "cgroup cgroup rw,memory");
  machine.put("proc/self/cgroup", "4:memory:/a/b\n0::/a\n");
  machine.put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  machine.put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", megabytes(300));
  machine.put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", megabytes(100));
  EXPECT_EQ(machine.available(), 200 * kMegabyte);
}

TEST(Memory, OfAGroupThatCannotBeSeenIsThatOfTheMount) {
  const FakeMachine machine;
  machine.mount("/", "/sys/fs/cgroup", "cgroup2 cgroup2 rw");
  machine.put("proc/self/cgroup", "0::/../../elsewhere\n");
  machine.put("sys/fs/cgroup/memory.max", megabytes(300));
  machine.put("sys/fs/cgroup/memory.current", megabytes(100));
  EXPECT_EQ(machine.available(), 200 * kMegabyte);
}

TEST(Memory, IsLimitedByTheProcessItself) {
  const FakeMachine machine;
  machine.put("proc/self/statm", "1000 500 100 10 0 300 0\n");
  machine.put("proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max data size             unlimited            unlimited            bytes     \n"
              "Max address space         1073741824           unlimited            bytes     \n");
  const int64_t page = sysconf(_SC_PAGESIZE);
  EXPECT_EQ(machine.available(), kGigabyte - 1000 * page);
  machine.put("proc/self/limits", "Max data size   104857600   unlimited   bytes\n");
  EXPECT_EQ(machine.available(), 100 * kMegabyte - 300 * page);
}

#ifndef __SANITIZE_ADDRESS__  // its shadow takes terabytes of addresses
TEST(Memory, IsLimitedByAnActualLimitOfTheProcess) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limited{static_cast<rlim_t>(4 * kGigabyte), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  EXPECT_LT(available_memory(), 4 * kGigabyte);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}
#endif

}  // namespace
}  // namespace soft
