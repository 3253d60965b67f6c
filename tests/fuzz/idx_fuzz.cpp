// MNIST's files of pictures and labels, plain or compressed. An input is the size of the labels'
// file in two bytes, low one first, then that file, then the pictures'.
#include <algorithm>

#include "data/source.h"
#include "fuzz/fuzz.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFolder folder({"train-labels-idx1-ubyte", "train-images-idx3-ubyte"});
  if (size < 2) return -1;
  const size_t labels = std::min<size_t>(data[0] | data[1] << 8, size - 2);
  folder.put(0, data + 2, labels);
  folder.put(1, data + 2 + labels, size - 2 - labels);
  fuzz::attempt([&] {
    const Dataset dataset = open_idx(folder.path(), Split::kTrain);
    for (int64_t i = 0; i < std::min<int64_t>(dataset.size(), 3); ++i) {
      const Image image = dataset.load(i);
      fuzz::require(image.width == dataset.native_size && image.height == dataset.native_size,
                    "pictures are as large as their set says");
    }
    for (const int label : dataset.labels) {
      fuzz::require(label >= 0 && label < dataset.class_count(), "a label names a class");
    }
  });
  return 0;
}
