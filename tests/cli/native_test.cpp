// The commands that run a model do so without LibTorch: the dynamic linker says what it opened.
#include "cli/photo.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;
using testing::Not;

class Native : public testing::Test {
 protected:
  Native() { test::write_weights(weights(), find_model("soft-nano")); }

  std::string weights() const { return folder_.path("w.safetensors"); }

  // What the program opened, and its errors, while it ran `arguments` with these weights.
  std::string opened_by(const std::string& arguments) const {
    const test::Outcome outcome = test::run_shell(
        "LD_DEBUG=files " SOFT_BINARY " " + arguments + " --weights " + weights(), folder_.path());
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("libdnnl"));  // the linker did speak
    return outcome.err;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Native, ClassifyEvalForwardAndAttendLeaveLibTorchAlone) {
  for (const std::string& arguments :
       {"classify --json " + kCat, std::string("eval --data shapes --limit-val 8"),
        "forward --features --output y.npy --input " + kCat,
        "attend --query 9,9 --out heat.png " + kCat}) {
    EXPECT_THAT(opened_by(arguments),
                AllOf(Not(HasSubstr("libtorch")), Not(HasSubstr("libsoft_torch"))))
        << arguments;
  }
}

#if SOFT_WITH_TORCH
TEST_F(Native, TheTorchEngineIsOpenedWhenItIsAskedFor) {
  EXPECT_THAT(opened_by("classify --engine torch " + kCat), HasSubstr("libtorch_cpu"));
}
#endif

}  // namespace
}  // namespace soft
