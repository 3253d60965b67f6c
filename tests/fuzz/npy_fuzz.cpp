// NumPy's arrays.
#include "base/npy.h"
#include "fuzz/fuzz.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = fuzz::path_of(data, size);
  fuzz::attempt([&] {
    const Array array = read_npy(path);
    size_t elements = 1;
    for (int64_t side : array.shape) elements *= static_cast<size_t>(side);
    fuzz::require(elements == array.data.size(), "an array has all its elements");
  });
  return 0;
}
