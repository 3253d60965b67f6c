#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

namespace soft::fuzz {

// One descriptor for the whole run: its content is replaced by each input.
std::string path_of(const uint8_t* data, size_t size) {
  static const int file = memfd_create("input", MFD_CLOEXEC);
  const bool written = file >= 0 && ftruncate(file, 0) == 0 &&
                       pwrite(file, data, size, 0) == static_cast<ssize_t>(size);
  require(written, "the input fits into memory");
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace soft::fuzz
