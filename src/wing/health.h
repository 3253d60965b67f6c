// What the attention of a trained model does: numbers for every head, and what `soft train` watches
// of every layer. Where a mechanism has no landmarks, what is said about them is NaN.
#pragma once

#include <climits>
#include <cmath>
#include <limits>
#include <vector>

#include "base/json.h"
#include "engine/question.h"

namespace soft {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

struct HeadHealth {
  int stage = 0, layer = 0, head = 0;  // counted from 1
  double share = kNoNumber;            // rms(Y) / rms(V), value path aside
  double kernel_median = kNoNumber;    // of K1
  double rank = kNoNumber;             // of A: exp of the entropy of its eigenvalues
  double residual = kNoNumber;         // |A X A - A| / |A| of its inverse X, Frobenius
  double row_sum = kNoNumber;          // mean over the rows of the attention matrix
  // Mean over pairs of distant queries, the neighbourhoods of both left out: near 1 all of them see
  // the same.
  double row_correlation = kNoNumber;
};

// Means over the heads of a layer.
struct LayerHealth {
  int stage = 0, layer = 0;  // counted from 1
  double share = kNoNumber, kernel_median = kNoNumber, rank = kNoNumber;
};

// Which part of which layers is left out, to see what it is worth.
struct Silence {
  int stage = 0, layer = 0;  // counted from 1; 0: every layer of the model's own mechanism
  bool mixing = false;       // Y
  bool value_path = false;
};

inline Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

inline double number_from(const Json& json) {
  return json.is_number() ? json.get<double>() : kNoNumber;
}

inline Json to_json(const HeadHealth& row) {
  return {{"stage", row.stage},
          {"layer", row.layer},
          {"head", row.head},
          {"share", number_or_null(row.share)},
          {"kernel_median", number_or_null(row.kernel_median)},
          {"rank", number_or_null(row.rank)},
          {"residual", number_or_null(row.residual)},
          {"row_sum", number_or_null(row.row_sum)},
          {"row_correlation", number_or_null(row.row_correlation)}};
}

inline Json to_json(const LayerHealth& row) {
  return {{"stage", row.stage},
          {"layer", row.layer},
          {"share", number_or_null(row.share)},
          {"kernel_median", number_or_null(row.kernel_median)},
          {"rank", number_or_null(row.rank)}};
}

inline LayerHealth layer_health_from(const Json& json) {
  const auto place = [&](const char* key) {
    return static_cast<int>(count_at(json, key, INT_MAX));
  };
  return {place("stage"), place("layer"), number_from(json.at("share")),
          number_from(json.at("kernel_median")), number_from(json.at("rank"))};
}

}  // namespace soft
