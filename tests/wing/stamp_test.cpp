// A torch wing that was not made together with this library is refused by name.
#include "wing/stamp.h"

#include "support/support.h"

namespace soft {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Stamp : public testing::Test {
 protected:
  // A library's file with these words somewhere in it.
  std::string wing(const std::string& words) {
    const std::string path = folder_.path("libsoft_torch.so");
    test::write_file(path, std::string(5000, '\x7f') + words + std::string(300, '\0'));
    return path;
  }
  static std::string stamped(const std::string& stamp) { return "soft torch wing, stamp " + stamp; }

  test::TemporaryFolder folder_;
};

TEST_F(Stamp, OfThisVersionIsLetIn) {
  EXPECT_THAT(own_stamp(), testing::MatchesRegex(R"([0-9]+\.[0-9]+\.[0-9]+ [0-9a-f]{12})"));
  EXPECT_NO_THROW(check_stamp(wing(stamped(own_stamp()))));
}

TEST_F(Stamp, OfAnotherVersionIsNamed) {
  const std::string path = wing(stamped("0.1.9 00112233aabb"));
  EXPECT_THAT(test::error_of([&] { check_stamp(path); }),
              AllOf(HasSubstr(path), HasSubstr("0.1.9 00112233aabb"), HasSubstr(own_stamp()),
                    HasSubstr("together")));
}

TEST_F(Stamp, ThatIsMissingOrCutOffIsNoStamp) {
  EXPECT_THAT(test::error_of([&] { check_stamp(wing("")); }), HasSubstr("without a stamp"));
  const std::string path = folder_.path("cut");
  test::write_file(path, stamped(own_stamp().substr(0, 9)));
  EXPECT_THAT(test::error_of([&] { check_stamp(path); }), HasSubstr("together"));
}

#if SOFT_WITH_TORCH
TEST_F(Stamp, OfTheWingInThisBuildIsOurs) {
  const std::string build = std::string(SOFT_BINARY).substr(0, std::string(SOFT_BINARY).rfind('/'));
  EXPECT_EQ(stamp_in(build + "/libsoft_torch.so"), own_stamp());
}

// The real program with an older wing beside its library.
TEST_F(Stamp, OfAnOlderWingBesideTheProgramIsRefused) {
  const std::string build = std::string(SOFT_BINARY).substr(0, std::string(SOFT_BINARY).rfind('/'));
  test::run_shell("cp " + build + "/soft " + build + "/libsoft_inside.so.* .", folder_.path());
  wing(stamped("0.1.0 00112233aabb"));
  const test::Outcome outcome = test::run_shell(
      "LD_LIBRARY_PATH=. ./soft forward --model soft-pico --engine torch --output y.npy --input " +
          test::photo("cat_chelsea.png"),
      folder_.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("libsoft_torch.so"), HasSubstr("0.1.0 00112233aabb")));
}
#endif

}  // namespace
}  // namespace soft
