#include "base/hold_signals.h"

#include <gtest/gtest.h>

#include <optional>

namespace soft {
namespace {

volatile std::sig_atomic_t heard = 0;

TEST(HoldSignals, AHandlerRunsOnlyWhenTheScopeHasEnded) {
  struct sigaction ours {
  }, before{};
  ours.sa_handler = [](int) { heard = heard + 1; };
  sigaction(SIGUSR1, &ours, &before);
  heard = 0;
  std::optional<HoldSignals> hold(std::in_place);
  pthread_kill(pthread_self(), SIGUSR1);
  EXPECT_EQ(heard, 0);
  hold.reset();
  EXPECT_EQ(heard, 1);
  pthread_kill(pthread_self(), SIGUSR1);
  EXPECT_EQ(heard, 2);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(HoldSignals, ScopesNestAndFaultsAreNeverHeld) {
  const HoldSignals outer;
  { const HoldSignals inner; }
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  EXPECT_TRUE(sigismember(&now, SIGTERM));
  EXPECT_TRUE(sigismember(&now, SIGINT));
  EXPECT_FALSE(sigismember(&now, SIGSEGV));
  EXPECT_FALSE(sigismember(&now, SIGABRT));
}

}  // namespace
}  // namespace soft
