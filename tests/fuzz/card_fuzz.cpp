// Cards: the JSON by which a weights file describes its model, beside tensors that fit one of them.
// An input is the text of the card.
#include "base/json.h"
#include "describe/description.h"
#include "fuzz/fuzz.h"
#include "weights/weights.h"

using namespace soft;

namespace {

// The shapes of a file without its values.
Weights hollow_file() {
  Weights weights;
  weights.path = "input";
  for (const TensorShape& tensor : tensors_of(find_model("soft-nano"))) {
    weights.tensors[tensor.name] = {DType::kF32, tensor.shape, nullptr};
  }
  return weights;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Weights weights = hollow_file();
  weights.metadata["soft"].assign(reinterpret_cast<const char*>(data), size);
  fuzz::attempt([&] {
    const Card card = card_of(weights);
    Weights again = weights;
    again.metadata = metadata_of(card);
    fuzz::require(to_json(card_of(again)) == to_json(card),
                  "a card that is read is written the same");
  });
  return 0;
}
