#include "engine/view.h"

namespace soft {
namespace {

// Axes of length 1 say nothing about where things lie.
View without_ones(const View& view) {
  View plain{view.buffer, view.offset};
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 1) continue;
    plain.shape.push_back(view.shape[i]);
    plain.strides.push_back(view.strides[i]);
  }
  return plain;
}

// Axes that continue one another become one.
View merged(const View& view) {
  const View plain = without_ones(view);
  View result{view.buffer, view.offset};
  for (size_t i = 0; i < plain.shape.size(); ++i) {
    const bool continues =
        !result.shape.empty() && result.strides.back() == plain.shape[i] * plain.strides[i];
    if (continues) {
      result.shape.back() *= plain.shape[i];
      result.strides.back() = plain.strides[i];
    } else {
      result.shape.push_back(plain.shape[i]);
      result.strides.push_back(plain.strides[i]);
    }
  }
  return result;
}

}  // namespace

int64_t View::count() const {
  int64_t all = 1;
  for (const int64_t side : shape) all *= side;
  return all;
}

View tokens_view(int buffer, const std::vector<int64_t>& shape) {
  View view{buffer, 0, shape, std::vector<int64_t>(shape.size(), 1)};
  for (size_t i = shape.size() - 1; i > 0; --i) view.strides[i - 1] = view.strides[i] * shape[i];
  return view;
}

View map_view(int buffer, int64_t channels, Grid grid) {
  return {buffer, 0, {channels, grid.h, grid.w}, {1, grid.w * channels, channels}};
}

// Axis by axis from the last: each new one must lie inside one of the merged old ones.
std::optional<View> reshaped(const View& view, const std::vector<int64_t>& shape) {
  const View from = merged(view);
  View to{view.buffer, view.offset, shape, std::vector<int64_t>(shape.size(), 1)};
  auto axis = static_cast<int64_t>(from.shape.size()) - 1;
  int64_t inside = 1;  // of the old axis, already spoken for
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (axis >= 0 && inside == from.shape[axis]) {
      --axis;
      inside = 1;
    }
    if (axis < 0 || from.shape[axis] % (inside * shape[i]) != 0) return {};
    to.strides[i] = from.strides[axis] * inside;
    inside *= shape[i];
  }
  return to;
}

View permuted(const View& view, const std::vector<int64_t>& axes) {
  View turned{view.buffer, view.offset};
  for (const int64_t axis : axes) {
    turned.shape.push_back(view.shape.at(axis));
    turned.strides.push_back(view.strides.at(axis));
  }
  return turned;
}

View narrowed(const View& view, int64_t axis, int64_t begin, int64_t length) {
  View piece = view;
  piece.offset += begin * view.strides.at(axis);
  piece.shape.at(axis) = length;
  return piece;
}

bool lie_alike(const View& a, const View& b) {
  const View left = without_ones(a), right = without_ones(b);
  return left.shape == right.shape && left.strides == right.strides;
}

bool is_map(const View& view) {
  return view.shape.size() == 3 && lie_alike(view, map_view(0, view.shape[0], grid_of(view)));
}

bool is_rows(const View& view) { return lie_alike(view, tokens_view(0, view.shape)); }

}  // namespace soft
