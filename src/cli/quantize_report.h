// What `soft quantize` came to, for people and as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "engine/quantize_model.h"
#include "study/int8_study.h"

namespace soft {

struct QuantizeResult {
  Int8Choice choice;
  double top1_fp32 = 0, top1_int8 = 0;
  int64_t checked = 0;
  bool labelled = false;
  uintmax_t bytes = 0;
};

Json json_of(const QuantizedModel& model, const QuantizeResult& result);
void print_result(const std::string& out, const QuantizedModel& model,
                  const QuantizeResult& result);

}  // namespace soft
