// Writes safetensors files.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "weights/dtype.h"
#include "weights/weights.h"

namespace soft {
namespace {

constexpr size_t kAlignment =
    64;  // where the data begins, so that tensors in a mapped file sit well in cache

DType stored_type(const NamedTensor& tensor, const WriteOptions& options) {
  const DType own = tensor.view.type;
  return is_floating(own) && !tensor.exact ? options.type : own;
}

std::string header_text(const std::vector<NamedTensor>& tensors,
                        const std::map<std::string, std::string>& metadata,
                        const WriteOptions& options) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t begin = 0;
  for (const NamedTensor& tensor : tensors) {
    const std::string& name = tensor.name;
    const TensorView& view = tensor.view;
    if (header.contains(name)) fail("tensor '{}' is given twice; a file holds it once", name);
    const DType type = stored_type(tensor, options);
    const size_t end = begin + static_cast<size_t>(view.elements()) * size_of(type);
    header[name] = {
        {"dtype", name_of(type)}, {"shape", view.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  const size_t used = sizeof(uint64_t) + text.size();
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  return text;
}

uint16_t narrow_to_half(float value, const std::string& name) {
  const uint16_t half = float_to_half(value);
  if (std::isfinite(value) && std::isinf(half_to_float(half))) {
    fail("tensor '{}' holds {}, too large for half precision (65504); keep it in float32", name,
         value);
  }
  return half;
}

void write_narrowed(std::ostream& out, const NamedTensor& tensor, DType type) {
  const std::vector<float> values = to_floats(tensor.view);
  std::vector<uint16_t> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [&](float value) {
    return type == DType::kF16 ? narrow_to_half(value, tensor.name) : float_to_bfloat(value);
  });
  out.write(reinterpret_cast<const char*>(narrow.data()),
            static_cast<std::streamsize>(narrow.size() * sizeof(uint16_t)));
}

void write_tensor(std::ostream& out, const NamedTensor& tensor, DType type) {
  const TensorView& view = tensor.view;
  if (view.type == type) {
    out.write(reinterpret_cast<const char*>(view.data), static_cast<std::streamsize>(view.bytes()));
  } else if (type == DType::kF32) {
    const std::vector<float> values = to_floats(view);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
  } else {
    write_narrowed(out, tensor, type);
  }
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const WriteOptions& options) {
  if (options.type == DType::kF64 || !is_floating(options.type)) {
    fail_usage("tensors are written as F32, F16 or BF16, not {}", name_of(options.type));
  }
  const std::string header = header_text(tensors, metadata, options);
  const uint64_t length = header.size();
  write_atomically(path, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(&length), sizeof(length));
    out << header;
    for (const NamedTensor& tensor : tensors) {
      write_tensor(out, tensor, stored_type(tensor, options));
    }
  });
}

}  // namespace soft
