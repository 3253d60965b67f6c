// What GET /v1/model tells about the model, and which picture sizes the server runs it at.
#pragma once

#include "serve/api.h"

namespace soft {

// Multiply-accumulates that one request may ask for: about half a second of one core.
constexpr int64_t kMostMacs = 40'000'000'000;

Json facts_of(const ServedModel& model, const ServedModels& all);

// A usage error for a size whose pictures would cost more than kMostMacs, or cannot run.
void check_size(const ModelSpec& spec, int size);

}  // namespace soft
