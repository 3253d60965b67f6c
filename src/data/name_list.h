// Many names in one block of memory: as separate strings, a million of them take three times as
// much.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace soft {

class NameList {
 public:
  void add(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }

  std::string_view operator[](int64_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(text_).substr(begin, ends_[index] - begin);
  }

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }

 private:
  std::string text_;
  std::vector<uint64_t> ends_;  // of each name in the text
};

}  // namespace soft
