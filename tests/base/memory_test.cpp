#include "base/memory.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(Memory, SomeIsAvailableAndLessThanAnybodyHas) {
  EXPECT_GT(available_memory(), int64_t{1} << 20);
  EXPECT_LT(available_memory(), int64_t{1} << 50);
}

TEST(Memory, IsToldInTheLargestUnitThatFits) {
  EXPECT_EQ(bytes_text(12), "12.0 bytes");
  EXPECT_EQ(bytes_text(3.2e9), "3.2 GB");
  EXPECT_EQ(bytes_text(7e15), "7.0 PB");
}

}  // namespace
}  // namespace soft
