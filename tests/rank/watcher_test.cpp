#include "rank/watcher.h"

#include <sys/socket.h>

#include <atomic>
#include <memory>

#include "support/support.h"

namespace soft {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// So many ranks in one process, each with its watcher.
class Ranks {
 public:
  explicit Ranks(int world, std::chrono::milliseconds timeout = 60s) : timeout_(timeout) {
    for (int rank = 0; rank < world; ++rank) names_.push_back("rank " + std::to_string(rank));
    Descriptor listener = listen_on();
    port_ = port_of(listener);
    watchers_.push_back(make(0, std::move(listener)));
    for (int rank = 1; rank < world; ++rank) watchers_.push_back(make(rank, connect()));
  }

  Descriptor connect() const { return connect_to("127.0.0.1", port_, in(5s)); }
  std::unique_ptr<Watcher> make(int rank, Descriptor socket) {
    return std::make_unique<Watcher>(
        Watch{rank, names_, "secret", timeout_, [this](const std::string&) { ++lost_; }},
        std::move(socket));
  }
  Watcher& operator[](int rank) { return *watchers_[rank]; }
  void leave(int rank) { watchers_[rank].reset(); }
  int lost() const { return lost_; }

 private:
  std::chrono::milliseconds timeout_;
  std::vector<std::string> names_;
  int port_ = 0;
  std::atomic<int> lost_{0};
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

TEST(Watcher, SaysThatAllAreThere) {
  Ranks ranks(3);
  for (int rank : {0, 1, 2}) EXPECT_THAT(ranks[rank].wait_for_all(in(5s)), testing::IsEmpty());
}

TEST(Watcher, NamesWhoIsMissing) {
  Ranks ranks(1);
  Watcher leader({0, {"rank 0", "rank 1", "rank 2"}, "s", 60s, {}}, listen_on());
  EXPECT_THAT(leader.wait_for_all(in(50ms)), testing::ElementsAre(1, 2));
}

TEST(Watcher, TellsEverybodyWhichConnectionClosed) {
  Descriptor listener = listen_on();
  const int port = port_of(listener);
  const std::vector<std::string> names{"rank 0", "rank 1", "rank 2"};
  Watcher leader({0, names, "s", 60s, {}}, std::move(listener));
  Watcher other({1, names, "s", 60s, {}}, connect_to("127.0.0.1", port, in(5s)));
  Descriptor killed = connect_to("127.0.0.1", port, in(5s));
  send_all(killed, "hello s 2\n");
  ASSERT_THAT(leader.wait_for_all(in(5s)), testing::IsEmpty());
  killed.close();  // as the kernel does it for a dead process
  EXPECT_THAT(leader.verdict(5s), HasSubstr("rank 2 is gone"));
  EXPECT_THAT(other.verdict(5s), HasSubstr("rank 2 is gone"));
}

TEST(Watcher, OthersNoticeThatRankZeroIsGone) {
  Descriptor listener = listen_on();
  Descriptor client = connect_to("127.0.0.1", port_of(listener), in(5s));
  Watcher other({1, {"rank 0", "rank 1"}, "s", 60s, {}}, std::move(client));
  listener.close();
  EXPECT_THAT(other.verdict(5s), HasSubstr("rank 0 is gone"));
}

TEST(Watcher, SilenceIsALossAfterTheTimeOut) {
  Descriptor listener = listen_on();
  const int port = port_of(listener);
  Watcher leader({0, {"rank 0", "rank 1"}, "s", 300ms, {}}, std::move(listener));
  const Descriptor silent = connect_to("127.0.0.1", port, in(5s));
  send_all(silent, "hello s 1\n");
  EXPECT_THAT(leader.verdict(5s), HasSubstr("rank 1 is lost: nothing was heard of it for 0.3 s"));
}

TEST(Watcher, SignsOfLifeKeepTheGroupTogether) {
  Ranks ranks(2, 1500ms);
  ASSERT_THAT(ranks[0].wait_for_all(in(5s)), testing::IsEmpty());
  EXPECT_EQ(ranks[1].verdict(2500ms), "");
}

TEST(Watcher, ARankThatEndsTellsWhy) {
  Ranks ranks(3);
  ASSERT_THAT(ranks[0].wait_for_all(in(5s)), testing::IsEmpty());
  ranks[1].end("no space left\non the disk");
  EXPECT_EQ(ranks[2].verdict(5s), "rank 1 ended: no space left on the disk");
  EXPECT_EQ(ranks[0].verdict(5s), "rank 1 ended: no space left on the disk");
  EXPECT_EQ(ranks.lost(), 2);
}

TEST(Watcher, LeavingInGoodOrderIsNoLoss) {
  Ranks ranks(3);
  ASSERT_THAT(ranks[0].wait_for_all(in(5s)), testing::IsEmpty());
  ranks.leave(2);
  EXPECT_EQ(ranks[0].verdict(200ms), "");
  ranks.leave(0);
  EXPECT_EQ(ranks[1].verdict(700ms), "");
  EXPECT_EQ(ranks.lost(), 0);
}

TEST(Watcher, StrangersAreNotHeard) {
  Ranks ranks(2);
  ASSERT_THAT(ranks[0].wait_for_all(in(5s)), testing::IsEmpty());
  {
    const Descriptor stranger = ranks.connect();
    send_all(stranger, "hello wrong 1\nend nothing of this is true\n");
    const Descriptor again = ranks.connect();  // knows the word, but rank 1 is here already
    send_all(again, "hello secret 1\nend nor this\n");
    const Descriptor noise = ranks.connect();
    send_all(noise, std::string(40'000, 'x'));
  }
  EXPECT_EQ(ranks[0].verdict(300ms), "");
}

}  // namespace
}  // namespace soft
