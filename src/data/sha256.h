// SHA-256 (FIPS 180-4), to know that a downloaded file is the right one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace soft {

class Sha256 {
 public:
  void add(const uint8_t* bytes, size_t size);
  std::string hex();  // ends the message

 private:
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_ = 0;  // bytes
};

}  // namespace soft
