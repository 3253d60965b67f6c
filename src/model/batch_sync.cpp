#include "model/batch_sync.h"

#include "attention/torch.h"

namespace soft {
namespace {

SumOverProcesses present;

}  // namespace

BatchSync::BatchSync(SumOverProcesses sum) { present = std::move(sum); }
BatchSync::~BatchSync() { present = nullptr; }

bool batches_are_synced() { return static_cast<bool>(present); }

void sum_over_processes(const torch::Tensor& sums) {
  if (present) present(sums);
}

}  // namespace soft
