// Writes a weights file of a model whose signal stays alive through every layer, for measurements
// that need no trained one:   lively_weights MODEL OUT.safetensors [KEY=VALUE…]
#include <fmt/core.h>

#include "support/lively.h"

int main(int argc, char** argv) {
  using namespace soft;
  if (argc < 3) {
    fmt::print(stderr, "lively_weights MODEL OUT.safetensors [KEY=VALUE…]\n");
    return 2;
  }
  try {
    Card card;
    card.spec = find_model(argv[1]);
    for (int i = 3; i < argc; ++i) apply_setting(card.spec, argv[i]);
    const test::LivelyWeights weights(card.spec);
    std::vector<NamedTensor> tensors;
    for (const TensorShape& tensor : tensors_of(card.spec)) {
      tensors.push_back({tensor.name, weights.get().tensors.at(tensor.name)});
    }
    write_safetensors(argv[2], tensors, metadata_of(card));
  } catch (const std::exception& error) {
    fmt::print(stderr, "lively_weights: {}\n", error.what());
    return 1;
  }
}
