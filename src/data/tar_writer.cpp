#include "data/tar_writer.h"

#include <array>
#include <cstring>
#include <ostream>

#include "base/error.h"
#include "data/tar_reader.h"

namespace soft {
namespace {

constexpr size_t kLongestName = 100;
constexpr uint64_t kLargestSize = uint64_t{1} << 33;  // eleven octal digits

using Block = std::array<char, kTarBlock>;

void put(Block& block, size_t place, std::string_view text) {
  std::memcpy(block.data() + place, text.data(), text.size());
}

Block header_of(const std::string& name, uint64_t size) {
  if (name.size() > kLongestName) fail("'{}' is too long a name for a tar archive", name);
  if (size >= kLargestSize) fail("'{}' is too large for a tar archive: {} bytes", name, size);
  Block block{};
  put(block, 0, name);
  put(block, 100, "0000644");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  put(block, 124, fmt::format("{:011o}", size));
  put(block, 136, "00000000000");
  put(block, 148, "        ");
  put(block, 156, "0");
  put(block, 257, std::string_view("ustar\00000", 8));
  int sum = 0;
  for (const char byte : block) sum += static_cast<uint8_t>(byte);
  put(block, 148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

}  // namespace

int64_t write_tar_member(std::ostream& out, const std::string& name, std::string_view content) {
  const Block header = header_of(name, content.size());
  const size_t padding = (kTarBlock - content.size() % kTarBlock) % kTarBlock;
  out.write(header.data(), kTarBlock);
  out.write(content.data(), static_cast<int64_t>(content.size()));
  out.write(Block{}.data(), static_cast<int64_t>(padding));
  return kTarBlock + static_cast<int64_t>(content.size() + padding);
}

void write_tar_end(std::ostream& out) {
  for (int i = 0; i < 2; ++i) out.write(Block{}.data(), kTarBlock);
}

}  // namespace soft
