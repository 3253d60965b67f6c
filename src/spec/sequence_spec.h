// A model of sequences: the two-layer encoder of the Long Range Arena, whatever its attention.
// Pre-norm layers, learned positions, and a classifier of two linear layers on the pooled tokens;
// pairs share one encoder, and the classifier sees [a, b, a·b, a - b].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "spec/model_spec.h"
#include "spec/sequence_task.h"

namespace soft {

struct SequenceSpec {
  std::string name;    // a row of the table: lra-listops, …
  std::string form;    // what the attention is called in tables: soft, soft-released, softmax, …
  ModelSpec frame;     // flat: mechanism, dims, heads, depth, classes; positions are not its own
  int64_t length = 0;  // the task's n: positions, the divisor of the mean, SOFT's windows
  int64_t vocabulary = 0;  // 0 is padding
  int sides = 1;
  int hidden = 128;  // of the MLP and of the classifier
  double dropout = 0.1;
  bool class_token = false;  // pool by a class token instead of the mean
};

struct SequenceSettings {
  std::string form = "soft";     // see sequence_forms
  std::string landmarks = "64";  // SOFT, Nyströmformer: windows of n / 64 tokens; or pool4
  bool class_token = false;
  std::vector<std::string> settings;  // key=value of the frame
};

// softmax, reformer, …: names of mechanisms, and soft-released beside soft in its best form.
std::vector<std::string_view> sequence_forms();

SequenceSpec sequence_spec(const SequenceTask& task, const SequenceSettings& settings);

AttentionSpec attention_of(const SequenceSpec& spec);

Json to_json(const SequenceSpec& spec);
SequenceSpec sequence_spec_from_json(const Json& json, const std::string& what);

}  // namespace soft
