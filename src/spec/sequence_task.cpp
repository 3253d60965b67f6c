#include "spec/sequence_task.h"

#include "base/error.h"
#include "base/nearest.h"

namespace soft {

const std::vector<SequenceTask>& sequence_tasks() {
  static const std::vector<SequenceTask> tasks{
      {"listops", "ListOps", 2000, 2048, 32, 10, 1, 32, 1000, 5000, 50},
      {"text", "Text", 4000, 4096, 512, 2, 1, 32, 8000, 20'000, 500},
      {"retrieval", "Retrieval", 4000, 4096, 512, 2, 2, 32, 800, 30'000, 300},
      {"image", "Image", 1024, 1024, 512, 10, 1, 256, 175, 35'000, 175},
  };
  return tasks;
}

const SequenceTask& find_sequence_task(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SequenceTask& task : sequence_tasks()) {
    if (task.name == name) return task;
    names.push_back(task.name);
  }
  fail_usage("no task '{}'{}; there are {}", name, hint(name, names), fmt::join(names, ", "));
}

}  // namespace soft
