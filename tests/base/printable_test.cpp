#include "base/printable.h"

#include "support/support.h"

namespace soft {
namespace {

TEST(Shown, KeepsWhatPeopleWrite) {
  for (const char* text : {"", "a b", "M\xc3\xbcller", "\xe7\x8c\xab", "\xf0\x9f\x90\x88"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Shown, NoByteReachesTheTerminalAsACommand) {
  EXPECT_EQ(shown("\x1b[31mred\x07\r\n\t"), "?[31mred????");
  EXPECT_EQ(shown("\x7f"), "?");
  EXPECT_EQ(shown("a\xc2\x9b"
                  "31m"),
            "a?31m")
      << "C1's control sequence introducer";
  EXPECT_EQ(shown("\xe2\x80\xaetxt"), "?txt") << "right-to-left override";
}

TEST(Shown, WhatIsNoUtf8IsAQuestionMarkForEveryByte) {
  EXPECT_EQ(shown("\xff\xfe"), "??");
  EXPECT_EQ(shown("\xc3"), "?");
  EXPECT_EQ(shown("\xc0\x9b"), "??") << "an overlong escape";
  EXPECT_EQ(shown("\xe0\x80\x9b"), "?") << "another";
  EXPECT_EQ(shown("\xed\xa0\x80"), "?") << "half a surrogate pair";
}

}  // namespace
}  // namespace soft
