// safetensors: an 8-byte little-endian header length, the JSON header, then the raw tensors, which
// must tile the rest of the file exactly.
#include <algorithm>

#include "base/npy.h"
#include "weights/header.h"
#include "weights/read.h"

namespace soft {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLargestHeader = 100'000'000;

std::string_view header_text(Bytes file) {
  if (file.size < kLengthBytes) fail("{} bytes are too few for a safetensors file", file.size);
  const uint64_t length = Cursor(file, "the header length").read<uint64_t>();
  if (length > kLargestHeader) {
    fail("a header of {} bytes is more than the {} allowed; this is not a safetensors file", length,
         kLargestHeader);
  }
  return file.slice(kLengthBytes, length, "the header").text();
}

void check_size(const std::string& name, const HeaderEntry& entry) {
  const size_t needed = checked_bytes(entry.shape, entry.type);
  if (entry.begin > entry.end || static_cast<size_t>(entry.end - entry.begin) != needed) {
    fail("tensor '{}' of {} {} needs {} bytes, but its offsets are {}..{}", printable(name),
         name_of(entry.type), shape_text(entry.shape), needed, entry.begin, entry.end);
  }
}

// Every byte of the data belongs to exactly one tensor.
void check_tiling(const Header& header, size_t data_size) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto& [name, entry] : header.tensors) {
    check_size(name, entry);
    ranges.emplace_back(entry.begin, entry.end);
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t position = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != position) {
      fail("tensors {} at byte {} of the data", begin < position ? "overlap" : "leave a gap",
           std::min(begin, position));
    }
    position = end;
  }
  if (static_cast<size_t>(position) != data_size) {
    fail(
        "tensors take {} bytes, but {} follow the header; the file is truncated or has bytes "
        "appended",
        position, data_size);
  }
}

}  // namespace

Weights read_safetensors(std::shared_ptr<const FileBytes> file) {
  const Bytes all = bytes_of(*file);
  const std::string_view text = header_text(all);
  Header header = parse_header(text);
  const uint64_t data_begin = kLengthBytes + text.size();
  check_tiling(header, all.size - data_begin);
  Weights weights;
  for (auto& [name, entry] : header.tensors) {
    const uint8_t* data = all.data + data_begin + entry.begin;
    add_tensor(weights, name, {entry.type, std::move(entry.shape), data});
  }
  weights.metadata = std::move(header.metadata);
  weights.storage = std::move(file);
  return weights;
}

}  // namespace soft
