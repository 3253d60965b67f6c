// Where a value of a walk lies: an array inside one of its buffers, by shape and strides, so that
// reshaping, turning and cutting move nothing. Maps [C, H, W] lie with their channels last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/grid.h"

namespace soft {

struct View {
  int buffer = -1;
  int64_t offset = 0;            // floats from the buffer's start
  std::vector<int64_t> shape{};  // batch aside
  std::vector<int64_t> strides{};

  int64_t count() const;
};

View tokens_view(int buffer, const std::vector<int64_t>& shape);  // rows one after the other
View map_view(int buffer, int64_t channels, Grid grid);           // [C, H, W], channels last

// Nothing where the data would have to be moved.
std::optional<View> reshaped(const View& view, const std::vector<int64_t>& shape);
View permuted(const View& view, const std::vector<int64_t>& axes);
View narrowed(const View& view, int64_t axis, int64_t begin, int64_t length);

bool is_map(const View& view);                 // as map_view makes them
bool is_rows(const View& view);                // as tokens_view makes them
bool lie_alike(const View& a, const View& b);  // the same shape and strides
inline Grid grid_of(const View& map) { return {map.shape[1], map.shape[2]}; }

}  // namespace soft
