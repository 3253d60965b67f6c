#include "train/state.h"

#include <filesystem>

#include "data/sha256.h"
#include "support/tensors.h"
#include "weights/weights.h"

namespace soft {
namespace {

State state_at(int64_t step) {
  State state;
  state.position.step = step;
  state.tensors["x"] = torch::full({3}, static_cast<float>(step));
  return state;
}

std::string sha256(const std::string& text) {
  Sha256 sum;
  sum.add(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return sum.hex();
}

class StateFolderTest : public testing::Test {
 protected:
  size_t files() const {
    const std::filesystem::directory_iterator entries(temporary_.path());
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  test::TemporaryFolder temporary_;
  const StateFolder folder_{temporary_.path()};
};

TEST_F(StateFolderTest, KeepsTheLastTwo) {
  for (int64_t step : {1, 2, 3}) folder_.save(state_at(step));
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(folder_.load()->position.step, 3);
  EXPECT_EQ(folder_.load()->tensors.at("x")[0].item<float>(), 3);
}

TEST_F(StateFolderTest, TheOneSavedLastIsTheNewestThoughItIsAnEarlierStep) {
  for (int64_t step : {5, 6, 2}) folder_.save(state_at(step));
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(folder_.load()->position.step, 2);
}

TEST_F(StateFolderTest, SkipsAStateWithTensorsOfAnotherType) {
  folder_.save(state_at(1));
  const Weights good = read_weights(folder_.newest());
  const std::vector<int64_t> numbers{7, 8, 9};
  const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
  auto metadata = good.metadata;
  const std::string content(reinterpret_cast<const char*>(bytes), sizeof(int64_t) * numbers.size());
  metadata["tensors_sha256"] = sha256("x" + content);
  write_safetensors(temporary_.path("step-000000009-00000.safetensors"),
                    {{"x", {DType::kI64, {3}, bytes}}}, metadata);
  EXPECT_EQ(folder_.load()->position.step, 1);
}

TEST_F(StateFolderTest, SkipsAForgedStateWhoseNumbersCannotBe) {
  folder_.save(state_at(1));
  const Weights good = read_weights(folder_.newest());
  const std::string whole = good.metadata.at("position");
  for (const char* wrong : {"-1", "1.5", "1e300", "18446744073709551615", "null", "true"}) {
    std::string position = whole;
    position.replace(position.find("\"step\":1"), 8, std::string("\"step\":") + wrong);
    write_safetensors(temporary_.path("step-000000009-00000.safetensors"),
                      {{"x", good.tensors.at("x")}}, state_metadata(position, good.tensors));
    EXPECT_EQ(folder_.load()->position.step, 1) << wrong;
  }
}

}  // namespace
}  // namespace soft
