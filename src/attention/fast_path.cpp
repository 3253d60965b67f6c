#include "attention/fast_path.h"

#include <array>
#include <atomic>

#include "attention/torch.h"

namespace soft {
namespace {

std::atomic<bool> enabled{true};
std::array<std::atomic<int64_t>, 9> calls{};

}  // namespace

bool fast_path_applies(const torch::Tensor& t) {
  return enabled && t.device().is_cpu() && t.scalar_type() == torch::kFloat32;
}

FastPathScope::FastPathScope(bool use) : before_(enabled.exchange(use)) {}
FastPathScope::~FastPathScope() { enabled = before_; }

void count_fast_path(FastPath path) { ++calls[static_cast<size_t>(path)]; }
int64_t fast_path_calls(FastPath path) { return calls[static_cast<size_t>(path)]; }

}  // namespace soft
