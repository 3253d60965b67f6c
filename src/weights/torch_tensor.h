// From the recipe of a tensor in a checkpoint's pickle to a view of its values.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "weights/pickle.h"
#include "weights/weights.h"
#include "weights/zip.h"

namespace soft {

bool is_tensor(const PickleValue& value);

using Buffers = std::deque<std::vector<uint8_t>>;

// Finds storages in the archive. A tensor that is not row-major there (a transpose, a slice,
// channels-last) is copied into `copies`; all others are views into the archive.
class TorchStorages {
 public:
  TorchStorages(const ZipEntries& entries, std::string root, Buffers& copies, size_t copy_budget)
      : entries_(entries), root_(std::move(root)), copies_(copies), copy_budget_(copy_budget) {}

  TensorView view(const PickleValue& tensor);

 private:
  struct Storage {
    DType type;
    Bytes bytes;
  };
  Storage find(const PickleValue& reference) const;
  const uint8_t* copy(const TensorView& target, const std::vector<int64_t>& strides);

  const ZipEntries& entries_;
  std::string root_;  // "folder/" of the archive
  Buffers& copies_;
  size_t copy_budget_;  // bytes; a hostile file could ask for one large copy a thousand times
};

}  // namespace soft
