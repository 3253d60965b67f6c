#include "base/error.h"

#include "support/support.h"

namespace soft {
namespace {

Fault fault_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.fault();
  }
  throw std::logic_error("nothing was thrown");
}

TEST(Error, FailBlamesTheWorldAndFailUsageTheRequest) {
  EXPECT_EQ(fault_of([] { fail("x"); }), Fault::kWorld);
  EXPECT_EQ(fault_of([] { fail_usage("x"); }), Fault::kUsage);
}

TEST(Error, TheMessageIsFormatted) {
  EXPECT_EQ(test::error_of([] { fail("'{}' has {} bytes", "x", 3); }), "'x' has 3 bytes");
}

}  // namespace
}  // namespace soft
