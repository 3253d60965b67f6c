#include <filesystem>

#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using test::TemporaryFolder;
using testing::HasSubstr;

class Convert : public testing::Test {
 protected:
  Convert() { test::write_weights(in(), find_model("soft-nano")); }

  std::string in() const { return folder_.path("in.safetensors"); }
  std::string out() const { return folder_.path("out.safetensors"); }

  void expect_refusal(std::vector<std::string> arguments, int code, const std::string& part) const {
    arguments.insert(arguments.begin(), "convert");
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::is_regular_file(out()));
  }

  TemporaryFolder folder_;
};

TEST_F(Convert, WithoutChangesGivesTheSameTensors) {
  const Outcome outcome = run_soft({"convert", in(), out()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(test::read_file(out()), test::read_file(in()));
}

TEST_F(Convert, HalfPrecisionHalvesTheFileAndKeepsTheModel) {
  EXPECT_EQ(run_soft({"convert", in(), out(), "--half"}).exit_code, 0);
  const auto full = static_cast<double>(std::filesystem::file_size(in()));
  EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(out())), full / 2, 0.02 * full);
  const Weights weights = read_weights(out());
  EXPECT_EQ(weights.tensors.at("head.weight").type, DType::kF16);
  EXPECT_EQ(to_json(card_of(weights).spec), to_json(find_model("soft-nano")));
}

TEST_F(Convert, ASettingIsStoredInTheFile) {
  EXPECT_EQ(run_soft({"convert", in(), out(), "--set", "inverse=newton-adaptive"}).exit_code, 0);
  EXPECT_EQ(card_of(read_weights(out())).spec.inverse, Inverse::kNewtonAdaptive);
}

TEST_F(Convert, TheHeadToShowIsStoredInTheFileAndStaysThere) {
  const std::string first = folder_.path("first.safetensors");
  EXPECT_EQ(run_soft({"convert", in(), first, "--shown", "3,2,4"}).exit_code, 0);
  EXPECT_EQ(run_soft({"convert", first, out(), "--half"}).exit_code, 0);
  const HeadPlace shown = card_of(read_weights(out())).shown.value();
  EXPECT_EQ(shown.stage, 3);
  EXPECT_EQ(shown.layer, 2);
  EXPECT_EQ(shown.head, 4);
  EXPECT_FALSE(card_of(read_weights(in())).shown);
}

TEST_F(Convert, AHeadThatIsNotThereIsRefused) {
  expect_refusal({in(), out(), "--shown", "3,2"}, 2, "must be STAGE,LAYER,HEAD");
  expect_refusal({in(), out(), "--shown", "3,2,4,1"}, 2, "must be STAGE,LAYER,HEAD");
  expect_refusal({in(), out(), "--shown", "3,2,5"}, 1, "stage 3 layer 2 head 5, which soft-nano");
}

TEST_F(Convert, AFileMayBeConvertedOntoItself) {
  const std::string before = test::read_file(in());
  EXPECT_EQ(run_soft({"convert", in(), in()}).exit_code, 0);
  EXPECT_EQ(test::read_file(in()), before);
}

TEST_F(Convert, BadRequestsWriteNothing) {
  expect_refusal({in(), folder_.path("out.pth")}, 2, "must end in .safetensors");
  expect_refusal({in(), folder_.path("out")}, 2, "must end in .safetensors");
  expect_refusal({in()}, 2, "out is required");
  expect_refusal({in(), out(), "--model", "soft-nanno"}, 2, "did you mean 'soft-nano'");
  expect_refusal({in(), out(), "--set", "invers=exact"}, 2, "did you mean 'inverse'");
}

TEST_F(Convert, ASettingThatChangesTheTensorsIsRefused) {
  expect_refusal({in(), out(), "--set", "classes=11"}, 1, "head.weight");
}

TEST_F(Convert, BadFilesWriteNothing) {
  test::write_file(folder_.path("bad.safetensors"), "nonsense");
  expect_refusal({folder_.path("bad.safetensors"), out()}, 1, "bad.safetensors");
  expect_refusal({folder_.path("none.pth"), out()}, 1, "none.pth");
  expect_refusal({in(), folder_.path("no/out.safetensors")}, 1, "no/out.safetensors");
  expect_refusal({in(), folder_.path(std::string(300, 'x') + ".safetensors")}, 1,
                 "File name too long");
  std::filesystem::create_directory(out());
  expect_refusal({in(), out()}, 1, "is a folder");
}

}  // namespace
}  // namespace soft
