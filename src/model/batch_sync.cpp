#include "model/batch_sync.h"

#include "attention/torch.h"

namespace soft {
namespace {

SumOverProcesses exchange;

}  // namespace

BatchSync::BatchSync(SumOverProcesses sum) { exchange = std::move(sum); }
BatchSync::~BatchSync() { exchange = nullptr; }

bool batches_are_synced() { return static_cast<bool>(exchange); }

void sum_over_processes(const torch::Tensor& sums) {
  if (exchange) exchange(sums);
}

}  // namespace soft
