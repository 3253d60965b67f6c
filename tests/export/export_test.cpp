// What `soft export` writes and refuses. scripts/check_onnx compares its numbers in ONNX Runtime.
#include <filesystem>

#include "base/json.h"
#include "cli/weights_file.h"
#include "support/support.h"

namespace soft {
namespace {

using test::run_soft;
using testing::HasSubstr;

class Export : public testing::Test {
 protected:
  test::Outcome exported(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "export");
    arguments.insert(arguments.begin() + 2, file());
    return run_soft(arguments);
  }
  std::string file() const { return folder_.path("model.onnx"); }

  test::TemporaryFolder folder_;
};

TEST_F(Export, WritesAGraphThatTheCheckerAccepts) {
  for (const char* attention : {"soft", "soft-norm", "softmax", "linformer", "performer",
                                "nystromformer", "gaussian", "none"}) {
    const test::Outcome outcome = exported({"soft-pico", "--attention", attention, "--check"});
    ASSERT_EQ(outcome.exit_code, 0) << attention << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("nodes"));
  }
}

TEST_F(Export, WritesEverySamplerNewtonModeAndStage4) {
  for (const char* setting :
       {"sampler=avg", "sampler=random", "sampler=biased", "inverse=newton-adaptive",
        "inverse=newton-paper", "stage4=soft", "landmarks=4", "overlap=off", "pyramid=off",
        "kernel_scale=paper", "normalise=rows", "normalise=mean"}) {
    const test::Outcome outcome = exported({"soft-pico", "--set", setting, "--check"});
    ASSERT_EQ(outcome.exit_code, 0) << setting << ": " << outcome.err;
  }
}

TEST_F(Export, SaysInTheFileWhatTheGraphCannotHold) {
  ASSERT_EQ(exported({"soft-pico"}).exit_code, 0);
  const std::string bytes = test::read_file(file());
  EXPECT_THAT(bytes, HasSubstr("divided by std"));
  EXPECT_THAT(bytes, HasSubstr("is not solved exactly"));
  EXPECT_THAT(bytes, HasSubstr("class_names"));
}

TEST_F(Export, WritesLayersOfBytesAsBytes) {
  const std::string floats = folder_.path("floats.safetensors"),
                    bytes = folder_.path("bytes.safetensors");
  test::write_weights(floats, find_model("soft-pico"));
  ASSERT_EQ(
      run_soft({"quantize", floats, bytes, "--data", "shapes", "--images", "16", "--check", "16"})
          .exit_code,
      0);
  const test::Outcome outcome = exported({bytes, "--check"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string graph = test::read_file(file());
  EXPECT_THAT(graph, HasSubstr("QuantizeLinear"));
  EXPECT_THAT(graph, HasSubstr("block1.0.att.ff1.weight_scale"));
  EXPECT_LT(graph.size(), std::filesystem::file_size(floats) / 2);
}

TEST_F(Export, RefusesWhatOnnxLacks) {
  const test::Outcome exact = exported({"soft-pico", "--set", "inverse=exact"});
  EXPECT_EQ(exact.exit_code, 2);
  EXPECT_THAT(exact.err, HasSubstr("--set inverse=newton"));
  const test::Outcome reformer = exported({"soft-pico", "--attention", "reformer"});
  EXPECT_EQ(reformer.exit_code, 2);
  EXPECT_THAT(reformer.err, HasSubstr("hashes"));
}

TEST_F(Export, RefusesBadRequestsBeforeAnythingIsWritten) {
  EXPECT_EQ(run_soft({"export", "soft-pico", folder_.path("model.pb")}).exit_code, 2);
  EXPECT_EQ(exported({"soft-pico", "--size", "8"}).exit_code, 2);
  EXPECT_EQ(exported({folder_.path("missing.safetensors")}).exit_code, 1);
  EXPECT_THAT(run_soft({"export", "soft-pico", "/nowhere/model.onnx"}).err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace soft
