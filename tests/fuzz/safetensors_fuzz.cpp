// Weights files in our own format, their header and the card inside it.
#include "fuzz/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = soft::fuzz::path_of(data, size);
  soft::fuzz::attempt([&] { soft::fuzz::read_everything(path); });
  return 0;
}
