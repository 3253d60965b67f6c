// CIFAR-10's binary version: records of one label byte and 3 x 32 x 32 bytes, plane after plane.
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/source.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

constexpr int kSide = 32;
constexpr int64_t kArea = int64_t{kSide} * kSide;
constexpr int64_t kRecord = 1 + 3 * kArea;
constexpr int64_t kOfficialCount = 10'000;  // pictures per file

const std::vector<std::string> kClasses{"airplane", "automobile", "bird",  "cat",  "deer",
                                        "dog",      "frog",       "horse", "ship", "truck"};

struct Record {
  const uint8_t* bytes;
  int label() const { return bytes[0]; }

  Image image() const {
    Image image(kSide, kSide);
    const uint8_t* red = bytes + 1;
    for (int64_t i = 0; i < kArea; ++i) {
      image.rgb[3 * i] = red[i];
      image.rgb[3 * i + 1] = red[i + kArea];
      image.rgb[3 * i + 2] = red[i + 2 * kArea];
    }
    return image;
  }
};

struct Storage {
  std::vector<std::vector<uint8_t>> files;
  std::vector<Record> records;
};

std::vector<std::string> file_names(Split split) {
  if (split == Split::kValidation) return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  return names;
}

// The official archive unpacks into a folder of its own.
fs::path batches_folder(const fs::path& folder) {
  const fs::path inner = folder / "cifar-10-batches-bin";
  return fs::is_directory(inner) ? inner : folder;
}

// Read, not mapped: a file that shrinks while it is mapped ends the program.
void add_records(const std::string& path, Storage& storage) {
  std::vector<uint8_t> bytes = read_bytes(path);
  const auto size = static_cast<int64_t>(bytes.size());
  if (size == 0 || size % kRecord != 0) {
    fail("'{}' is {} bytes, not a multiple of {}: truncated, or not a CIFAR-10 binary batch", path,
         size, kRecord);
  }
  const int64_t count = size / kRecord;
  if (count != kOfficialCount) {
    log("'{}' holds {} pictures, the official file {}", path, count, kOfficialCount);
  }
  for (int64_t i = 0; i < count; ++i) {
    const Record record{bytes.data() + i * kRecord};
    if (record.label() >= static_cast<int>(kClasses.size())) {
      fail("'{}': picture {} has label {}; CIFAR-10 has {} classes", path, i, record.label(),
           kClasses.size());
    }
    storage.records.push_back(record);
  }
  storage.files.push_back(std::move(bytes));
}

}  // namespace

Dataset open_cifar10(const std::string& folder, Split split) {
  auto storage = std::make_shared<Storage>();
  for (const std::string& name : file_names(split)) {
    add_records((batches_folder(folder) / name).string(), *storage);
  }
  Dataset dataset;
  dataset.classes = kClasses;
  dataset.native_size = kSide;
  dataset.mean = {0.4914f, 0.4822f, 0.4465f};
  dataset.std = {0.2470f, 0.2435f, 0.2616f};
  for (const Record& record : storage->records) dataset.labels.push_back(record.label());
  dataset.load = [storage](int64_t index) { return storage->records[index].image(); };
  return dataset;
}

}  // namespace soft
