#include "data/sha256.h"

#include "support/support.h"

namespace soft {
namespace {

std::string sum_of(const std::string& text) {
  Sha256 sum;
  sum.add(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return sum.hex();
}

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnyLengthGiveTheSameSum) {
  const std::string text(300, 'x');
  for (size_t piece : {1, 7, 63, 64, 65, 128}) {
    Sha256 sum;
    for (size_t i = 0; i < text.size(); i += piece) {
      sum.add(reinterpret_cast<const uint8_t*>(text.data()) + i, std::min(piece, text.size() - i));
    }
    EXPECT_EQ(sum.hex(), sum_of(text)) << piece;
  }
}

}  // namespace
}  // namespace soft
