// Whether bytes are UTF-8, told as they come.
#pragma once

#include <cstddef>
#include <cstdint>

namespace soft {

class Utf8Check {
 public:
  // Takes more bytes; false from the first one that cannot follow.
  bool take(const char* bytes, size_t count);
  bool whole() const { return good_ && missing_ == 0; }  // no character is left unfinished

 private:
  bool step(uint8_t byte);

  bool good_ = true;
  int missing_ = 0;                   // bytes of the character that is under way…
  uint8_t low_ = 0x80, high_ = 0xbf;  // …the next of which lies between these
};

}  // namespace soft
