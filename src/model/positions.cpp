#include "model/positions.h"

#include "attention/torch.h"

namespace soft {

using torch::Tensor;

Tensor as_map(const Tensor& tokens, int64_t prefix, Grid grid) {
  if (tokens.dim() == 4) return tokens;
  const Tensor channels_first = tokens.narrow(1, prefix, grid.size()).transpose(1, 2);
  return channels_first.reshape({tokens.size(0), tokens.size(2), grid.h, grid.w});
}

Tensor resized_positions(const Tensor& positions, const op::Position& position) {
  const auto [made_for, grid, prefix, cubic, fixed] = position;
  if (made_for == grid) return positions;
  const Tensor map = as_map(positions, prefix, made_for);
  const std::vector<int64_t> size{grid.h, grid.w};
  const Tensor resized = (cubic ? torch::upsample_bicubic2d(map, size, false)
                                : torch::upsample_bilinear2d(map, size, false))
                             .flatten(2)
                             .transpose(1, 2);
  return prefix == 0 ? resized : torch::cat({positions.narrow(1, 0, prefix), resized}, 1);
}

}  // namespace soft
