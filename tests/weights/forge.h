// Forges weights files byte by byte: sound ones to vary, and broken ones no tool would write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace soft::test {

template <class Number>
std::string raw(Number value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

// ---- safetensors
inline std::string safetensors(std::string_view header, std::string_view data) {
  return raw<uint64_t>(header.size()).append(header).append(data);
}

// ---- zip: stored entries
struct ZipFile {
  std::string name;
  std::string content;
  uint16_t method = 0;
  uint16_t flags = 0;
};

inline std::string local_header(const ZipFile& file) {
  const auto size = static_cast<uint32_t>(file.content.size());
  return "PK\x03\x04" + raw<uint16_t>(20) + raw(file.flags) + raw(file.method) + raw<uint32_t>(0) +
         raw<uint32_t>(0) + raw(size) + raw(size) + raw(static_cast<uint16_t>(file.name.size())) +
         raw<uint16_t>(0) + file.name;
}

inline std::string central_entry(const ZipFile& file, uint32_t size, uint32_t offset,
                                 const std::string& extra) {
  return "PK\x01\x02" + raw<uint32_t>(0) + raw(file.flags) + raw(file.method) + raw<uint32_t>(0) +
         raw<uint32_t>(0) + raw(size) + raw(size) + raw(static_cast<uint16_t>(file.name.size())) +
         raw(static_cast<uint16_t>(extra.size())) + raw<uint16_t>(0) + raw<uint32_t>(0) +
         raw<uint32_t>(0) + raw(offset) + file.name + extra;
}

// With `wide` every size and offset stands in zip64 fields only, as in archives beyond 4 GB.
inline std::string zip(const std::vector<ZipFile>& files, bool wide = false) {
  constexpr uint32_t kSaturated = 0xffffffff;
  std::string bytes;
  std::string directory;
  for (const ZipFile& file : files) {
    const uint64_t size = file.content.size();
    const uint64_t offset = bytes.size();
    const std::string extra =
        raw<uint16_t>(1) + raw<uint16_t>(24) + raw(size) + raw(size) + raw(offset);
    directory +=
        wide ? central_entry(file, kSaturated, kSaturated, extra)
             : central_entry(file, static_cast<uint32_t>(size), static_cast<uint32_t>(offset), "");
    bytes += local_header(file) + file.content;
  }
  const uint64_t count = files.size();
  const uint64_t begin = bytes.size();
  const uint64_t size = directory.size();
  const uint64_t end = begin + size;
  bytes += directory;
  if (wide) {
    bytes += "PK\x06\x06" + raw<uint64_t>(44) + raw<uint32_t>(0) + raw<uint64_t>(0) + raw(count) +
             raw(count) + raw(size) + raw(begin);
    bytes += "PK\x06\x07" + raw<uint32_t>(0) + raw(end) + raw<uint32_t>(1);
  }
  const auto short_count = static_cast<uint16_t>(wide ? 0xffff : count);
  return bytes + "PK\x05\x06" + raw<uint32_t>(0) + raw(short_count) + raw(short_count) +
         raw(wide ? kSaturated : static_cast<uint32_t>(size)) +
         raw(wide ? kSaturated : static_cast<uint32_t>(begin)) + raw<uint16_t>(0);
}

// ---- pickle
inline std::string text(std::string_view value) {
  return "X" + raw(static_cast<uint32_t>(value.size())).append(value);
}

inline std::string integer(int64_t value) { return "\x8a\x08" + raw(value); }

inline std::string tuple(const std::vector<std::string>& items) {
  std::string bytes = "(";
  for (const std::string& item : items) bytes += item;
  return bytes + "t";
}

inline std::string numbers(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string bytes = "}(";
  for (const auto& [key, value] : items) bytes += text(key) + value;
  return bytes + "u";
}

struct ForgedTensor {
  std::string storage = "0";
  std::string type = "FloatStorage";
  int64_t storage_elements = 6;
  int64_t offset = 0;
  std::vector<int64_t> shape{2, 3};
  std::vector<int64_t> strides{3, 1};
};

inline std::string pickled(const ForgedTensor& t) {
  const std::string id = tuple({text("storage"), "ctorch\n" + t.type + "\n", text(t.storage),
                                text("cpu"), integer(t.storage_elements)});
  return "ctorch._utils\n_rebuild_tensor_v2\n" +
         tuple({id + "Q", integer(t.offset), numbers(t.shape), numbers(t.strides), "\x89", "N"}) +
         "R";
}

inline std::string pickle(const std::string& root) { return "\x80\x02" + root + "."; }

// A checkpoint of this root with one storage "0" of the floats 0 … 5.
inline std::vector<ZipFile> checkpoint_files(const std::string& root) {
  std::string storage;
  for (int i = 0; i < 6; ++i) storage += raw(static_cast<float>(i));
  return {{"archive/data.pkl", pickle(root)}, {"archive/data/0", storage}};
}

inline std::string checkpoint(const std::string& root) { return zip(checkpoint_files(root)); }

}  // namespace soft::test
