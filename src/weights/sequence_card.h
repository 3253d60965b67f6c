// What stands in the file of a sequence model beside its tensors.
#pragma once

#include <string>
#include <vector>

#include "spec/sequence_spec.h"
#include "weights/weights.h"

namespace soft {

struct SequenceCard {
  SequenceSpec spec;
  std::vector<std::string> classes;
  std::string data;  // that it was trained on
  int64_t cut = 0;   // longer sequences are cut here
  std::string task;
};

constexpr const char* kSequenceKey = "soft-sequence";  // of the metadata

bool is_sequence_file(const std::string& path);  // by its header alone
SequenceCard sequence_card(const Weights& weights);
Json to_json(const SequenceCard& card);

}  // namespace soft
