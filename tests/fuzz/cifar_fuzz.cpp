// CIFAR-10's binary batches. An input is the beginning of a batch and, in its last byte, how many
// bytes are missing from the last record: a record is longer than what a fuzzer likes to write.
#include <algorithm>

#include "data/source.h"
#include "fuzz/fuzz.h"

using namespace soft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFolder folder({"test_batch.bin"});
  if (size == 0) return -1;
  constexpr size_t kRecord = 3073;
  std::vector<uint8_t> batch(data, data + size - 1);
  batch.resize((batch.size() + kRecord - 1) / kRecord * kRecord);
  batch.resize(batch.size() - std::min<size_t>(data[size - 1], batch.size()));
  folder.put(0, batch.data(), batch.size());
  fuzz::attempt([&] {
    const Dataset dataset = open_cifar10(folder.path(), Split::kValidation);
    fuzz::require(
        dataset.size() * static_cast<int64_t>(kRecord) == static_cast<int64_t>(batch.size()),
        "every record is a picture");
    for (int64_t i = 0; i < dataset.size(); ++i) {
      fuzz::require(dataset.labels[i] >= 0 && dataset.labels[i] < dataset.class_count(),
                    "a label names a class");
      fuzz::require(dataset.load(i).rgb.size() == kRecord - 1, "a picture has all its pixels");
    }
  });
  return 0;
}
