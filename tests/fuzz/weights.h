// Reading weights as every command does: open, touch every byte of every tensor, read the card.
#pragma once

#include <string>

#include "fuzz/fuzz.h"
#include "weights/int8.h"
#include "weights/weights.h"

namespace soft::fuzz {

inline void read_everything(const std::string& path) {
  const Weights weights = read_weights(path);
  volatile uint8_t sink = 0;
  for (const auto& [name, view] : weights.tensors) {
    for (size_t i = 0; i < view.bytes(); ++i) sink = sink ^ view.data[i];
  }
  if (has_int8(weights)) dequantized(weights);
  const Card card = card_of(weights);
  check_fit(weights, card.spec);
}

}  // namespace soft::fuzz
