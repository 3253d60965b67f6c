// Many names in few blocks of memory: as separate strings, a million of them take three times as
// much, and a single block would be copied as it grows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace soft {

class NameList {
 public:
  void add(std::string_view name) {
    if (size() % kNames == 0) blocks_.emplace_back();
    blocks_.back() += name;
    ends_.push_back(static_cast<uint32_t>(blocks_.back().size()));
  }

  std::string_view operator[](int64_t index) const {
    const size_t begin = index % kNames == 0 ? 0 : ends_[index - 1];
    return std::string_view(blocks_[index / kNames]).substr(begin, ends_[index] - begin);
  }

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }

 private:
  static constexpr int64_t kNames = 1024;  // of a block
  std::vector<std::string> blocks_;
  std::vector<uint32_t> ends_;  // of each name in its block
};

}  // namespace soft
