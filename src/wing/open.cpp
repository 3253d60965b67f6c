#include <cstdlib>

#include "wing/library.h"
#include "wing/wing.h"

namespace soft {
namespace {

constexpr const char* kLibrary = "libsoft_torch.so";

// LibTorch stays with AVX2 kernels unless told otherwise before its first operation.
void allow_avx512() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) setenv("ATEN_CPU_CAPABILITY", "avx512", 0);
#endif
}

}  // namespace

bool has_torch_wing() { return !wing_path(kLibrary).empty(); }

const TorchWing& torch_wing() {
  static const TorchWing* wing = [] {
    allow_avx512();
    using Entry = const TorchWing* (*)();
    return reinterpret_cast<Entry>(wing_entry(kLibrary, "soft_torch_wing"))();
  }();
  return *wing;
}

}  // namespace soft
