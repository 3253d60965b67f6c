// The tasks of the Long Range Arena, one row each: what a model reads and how it is trained.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace soft {

struct SequenceTask {
  std::string_view name;   // of the command line: listops, text, retrieval, image
  std::string_view title;  // of the paper's table
  int64_t cut;             // longer sequences are cut here…
  int64_t length;      // …and padded to this: positions, pooling and landmarks are made for it
  int64_t vocabulary;  // ids, padding (0) included
  int64_t classes;
  int sides;  // sequences in an example: 2 where pairs are compared
  int64_t batch;
  int64_t warmup, steps, eval_every;
};

const std::vector<SequenceTask>& sequence_tasks();
const SequenceTask& find_sequence_task(std::string_view name);  // a usage error for unknown names

}  // namespace soft
