// What the torch wing exports: one function per command. LibTorch's errors become soft::Error here,
// without their backtraces.
#include <torch/torch.h>

#include "base/error.h"
#include "wing/wing.h"

namespace soft {
namespace {

TorchForwardResult forward(const TorchForward&) { fail("not yet"); }
Json doctor(int) { return Json::object(); }

constexpr TorchWing kWing{forward, doctor};

}  // namespace
}  // namespace soft

extern "C" __attribute__((visibility("default"))) const soft::TorchWing* soft_torch_wing() {
  return &soft::kWing;
}
