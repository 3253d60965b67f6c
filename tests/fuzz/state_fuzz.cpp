// Training states. Their checksums would turn every mutated file away, so an input is what they
// cover: the text of the position, as whoever forges a state would write it.
#include "fuzz/fuzz.h"
#include "train/state_file.h"

using namespace soft;

namespace {

Weights file_with(const std::string& position) {
  static const uint8_t bytes[2] = {4, 5};
  Weights file;
  file.path = "input";
  file.tensors["x"] = {DType::kU8, {2}, bytes};
  file.metadata = state_metadata(position, file.tensors);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::attempt([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const Position position = state_of(file_with(text)).position;
    fuzz::require(position.epoch >= 0 && position.batch >= 0 && position.step >= 0,
                  "nobody begins before the first step");
    const std::string written = to_text(position);
    fuzz::require(to_text(state_of(file_with(written)).position) == written,
                  "a position that is read is written the same");
  });
  return 0;
}
