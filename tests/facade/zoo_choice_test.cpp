// --model and --set say of a bare file what its shapes do not show.
#include "facade/choice.h"
#include "support/zoo.h"

namespace soft {
namespace {

TEST(ZooChoice, AMiniOfEveryFamilyIsReadWithItsRowAndItsSettings) {
  const test::TemporaryFolder folder;
  for (const test::Mini& mini : test::minis()) {
    const Weights bare = test::published_weights(mini);
    std::vector<NamedTensor> tensors;
    for (const auto& [name, view] : bare.tensors) tensors.push_back({name, view});
    write_safetensors(folder.path("bare.safetensors"), tensors, {});
    ModelOptions options;
    options.weights = folder.path("bare.safetensors");
    options.model = mini.row;
    EXPECT_THAT(test::error_of([&] { choose_model(options); }), testing::HasSubstr("not those of"));
    options.settings = mini.settings;
    const ChosenModel chosen = choose_model(options);
    EXPECT_EQ(to_json(chosen.card.spec), to_json(test::spec_of(mini))) << mini.file;
  }
}

}  // namespace
}  // namespace soft
