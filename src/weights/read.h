// What the two readers share. Their errors say only what is wrong; read_weights adds the path.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/printable.h"
#include "weights/bytes.h"
#include "weights/weights.h"

namespace soft {

// A whole file, read: what is mapped can be pulled away by whoever shortens the file.
struct FileBytes {
  std::string path;
  std::vector<uint8_t> bytes;
};

Weights read_safetensors(std::shared_ptr<const FileBytes> file);
Weights read_pth(FileBytes file, const std::string& key);

inline Bytes bytes_of(const FileBytes& file) { return {file.bytes.data(), file.bytes.size()}; }

// Bytes a tensor of this shape takes. Refuses negative sides, many axes and overflow.
size_t checked_bytes(const std::vector<int64_t>& shape, DType type);

// Files a tensor under its published name: a leading "module." goes, BN's batch counters are
// dropped, and a name that is not printable or already taken is an error.
void add_tensor(Weights& weights, std::string_view name, TensorView tensor);

}  // namespace soft
