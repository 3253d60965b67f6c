// Published checkpoints: the zip archive, the pickle inside it and the storages it points to.
#include <cstring>

#include "fuzz/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Without an archive's signature the file would go to the other reader.
  if (size < 4 || std::memcmp(data, "PK\x03\x04", 4) != 0) return -1;
  const std::string path = soft::fuzz::path_of(data, size);
  soft::fuzz::attempt([&] { soft::fuzz::read_everything(path); });
  return 0;
}
