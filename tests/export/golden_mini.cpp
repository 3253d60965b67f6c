// A mini of tests/golden/zoo as files for scripts/check_onnx: weights w.safetensors, and for each
// of its inputs x1.npy, x2.npy the public implementation's logits y1.npy, y2.npy.
//   golden_mini FILE FOLDER        golden_mini: the names of the files
#include <fmt/core.h>

#include "base/npy.h"
#include "describe/description.h"
#include "support/zoo.h"

namespace soft {
namespace {

void write_mini(const test::Mini& mini, const std::string& folder) {
  Card card;
  card.spec = test::spec_of(mini);
  const Weights weights = test::published_weights(mini);
  std::vector<NamedTensor> tensors;
  for (const TensorShape& tensor : tensors_of(card.spec)) {
    tensors.push_back({tensor.name, weights.tensors.at(tensor.name)});
  }
  write_safetensors(folder + "/w.safetensors", tensors, metadata_of(card));
  const Weights file = read_weights(test::golden("zoo/" + mini.file + ".safetensors"));
  const auto write = [&](const std::string& stored, const std::string& as) {
    const auto found = file.tensors.find(stored);
    if (found == file.tensors.end()) return;
    write_npy(folder + "/" + as + ".npy", {found->second.shape, to_floats(found->second)});
  };
  write("input", "x1");
  write("logits", "y1");
  write("input2", "x2");
  write("logits2", "y2");
}

}  // namespace
}  // namespace soft

int main(int argc, char** argv) {
  try {
    for (const soft::test::Mini& mini : soft::test::minis()) {
      if (argc < 3) fmt::print("{}\n", mini.file);
      if (argc == 3 && mini.file == argv[1]) return soft::write_mini(mini, argv[2]), 0;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "golden_mini: {}\n", error.what());
    return 1;
  }
  return argc < 3 ? 0 : 2;
}
