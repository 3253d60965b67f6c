#include <filesystem>

#include "cli/weights_file.h"
#include "support/support.h"
#include "weights/int8.h"

namespace soft {
namespace {

using test::Outcome;
using test::run_soft;
using testing::HasSubstr;

class Quantize : public testing::Test {
 protected:
  Quantize() { test::write_weights(in(), find_model("soft-pico")); }

  std::string in() const { return folder_.path("in.safetensors"); }
  std::string out() const { return folder_.path("out.safetensors"); }

  std::vector<std::string> request(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"quantize", in(), out(),     "--data", "shapes",
                                       "--images", "16", "--check", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  void expect_refusal(const std::vector<std::string>& arguments, int code,
                      const std::string& part) const {
    const Outcome outcome = run_soft(arguments);
    EXPECT_EQ(outcome.exit_code, code) << part;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_FALSE(std::filesystem::exists(out()));
  }

  test::TemporaryFolder folder_;
};

TEST_F(Quantize, WritesAFileThatEveryCommandTakes) {
  const Outcome outcome = run_soft(request({"--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  for (const char* key : {"agreement", "top1_fp32", "top1_int8", "layers"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_GT(json.at("layers").size(), 10);
  EXPECT_LT(std::filesystem::file_size(out()), std::filesystem::file_size(in()) / 2);
  const Weights weights = read_weights(out());
  EXPECT_TRUE(has_int8(weights));
  EXPECT_TRUE(card_of(weights).extra.contains("int8"));
  EXPECT_EQ(run_soft({"eval", "--data", "shapes", "--limit", "8", "--weights", out()}).exit_code,
            0);
  EXPECT_EQ(run_soft({"info", out()}).exit_code, 0);
  EXPECT_EQ(
      run_soft({"bench", "model", "--weights", in(), "--beside", out(), "--repeat", "1"}).exit_code,
      0);
  EXPECT_EQ(run_soft({"convert", out(), folder_.path("back.safetensors")}).exit_code, 0);
  EXPECT_FALSE(has_int8(read_weights(folder_.path("back.safetensors"))));
}

TEST_F(Quantize, KeepsNamedLayers) {
  ASSERT_EQ(run_soft(request({"--keep", "head,block1"})).exit_code, 0);
  const Weights weights = read_weights(out());
  EXPECT_FALSE(is_int8(weights, "head.weight"));
  EXPECT_FALSE(is_int8(weights, "block1.0.att.ff1.weight"));
  EXPECT_FALSE(is_int8(weights, "patch_embed1.proj.0.weight"));
  EXPECT_TRUE(is_int8(weights, "block2.0.att.ff1.weight"));
}

TEST_F(Quantize, GivesLinearLayersTheRangesThatAreAskedFor) {
  for (const bool rows : {false, true}) {
    const Outcome outcome = run_soft(request({"--json", "--ranges", rows ? "rows" : "min-max"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out).at("ranges"), rows ? "rows" : "min-max");
    const Weights weights = read_weights(out());
    EXPECT_NE(int8_layer(weights, "head.weight").range.has_value(), rows);
    EXPECT_TRUE(int8_layer(weights, "patch_embed2.proj.0.weight").range);
    EXPECT_EQ(run_soft({"classify", "--weights", out(), test::photo("astronaut.png")}).exit_code,
              0);
    EXPECT_EQ(run_soft({"convert", out(), folder_.path("back.safetensors")}).exit_code, 0);
  }
}

TEST_F(Quantize, NoLossAtAllIsMetAtLast) {
  const Outcome outcome = run_soft(request({"--loss", "0", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).at("agreement"), 100);
}

TEST_F(Quantize, RefusesWhatCannotBeDone) {
  expect_refusal(request({"--keep", "hed"}), 2, "did you mean 'head'");
  expect_refusal(request({"--loss", "-1"}), 2, "--loss");
  expect_refusal(request({"--ranges", "row"}), 2, "did you mean 'rows'");
  expect_refusal({"quantize", in(), folder_.path("out.bin"), "--data", "shapes"}, 2,
                 "must end in .safetensors");
  expect_refusal({"quantize", in(), out(), "--data", "shapes", "--images", "3"}, 1,
                 "3 training pictures that can be read; ranges need at least 8");
  expect_refusal({"quantize", folder_.path("none.safetensors"), out(), "--data", "shapes"}, 1,
                 "none.safetensors");
}

TEST_F(Quantize, RefusesAQuantizedFile) {
  ASSERT_EQ(run_soft(request()).exit_code, 0);
  std::filesystem::rename(out(), in());
  expect_refusal(request(), 1, "holds int8 weights already");
}

TEST_F(Quantize, RefusesAModelThatTheEngineDoesNotRun) {
  ModelSpec spec = find_model("soft-pico");
  spec.attention = Mechanism::kPerformer;
  test::write_weights(in(), spec);
  expect_refusal(request(), 1, "the native engine runs attention=soft");
}

}  // namespace
}  // namespace soft
