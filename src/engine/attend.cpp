#include "engine/attend.h"

#include <algorithm>

#include "base/error.h"

namespace soft {
namespace {

// Squeezing a strip into the model's square takes memory for each of its pixels' weights.
constexpr int kLongestSide = 65'535;

struct Range {
  int begin, end;  // from 0, the end excluded
};

Range chosen(const char* what, int asked, int count, Range otherwise) {
  if (asked == AttendRequest::kDefault) return otherwise;
  if (asked == AttendRequest::kAll) return {0, count};
  if (asked < 1 || asked > count) {
    fail_usage("{} {} does not exist; choose one from 1 to {}", what, asked, count);
  }
  return {asked - 1, asked};
}

int stage_of(const ModelSpec& spec, const AttendRequest& request) {
  if (spec.in_zoo()) fail_usage("attend does not know where {} has its attention", spec.name);
  const auto stages = static_cast<int>(spec.stages.size());
  const int second = std::min(1, stages - 1);
  if (request.stage == AttendRequest::kAll) {
    fail_usage("maps of several stages have several grids; choose one stage from 1 to {}", stages);
  }
  return chosen("stage", request.stage, stages, {second, second + 1}).begin;
}

// The token whose patch holds the pixel's centre.
int64_t token_at(const AttendInput& input, Grid grid, const AttendRequest& request) {
  const Grid picture = input.picture;
  if (request.x < 0 || request.x >= picture.w || request.y < 0 || request.y >= picture.h) {
    fail_usage("the query {},{} is outside the picture; x goes from 0 to {}, y from 0 to {}",
               request.x, request.y, picture.w - 1, picture.h - 1);
  }
  const int64_t column = (2 * request.x + 1) * grid.w / (2 * picture.w);
  const int64_t row = (2 * request.y + 1) * grid.h / (2 * picture.h);
  return row * grid.w + column;
}

}  // namespace

AttendInput attend_input(const Image& upright, const Preprocessing& preprocessing, int size) {
  const int side = size > 0 ? size : preprocessing.size;
  return attend_input(upright, preprocessing, Grid{side, side});
}

AttendInput attend_input(const Image& upright, const Preprocessing& preprocessing, Grid size) {
  if (std::max(upright.width, upright.height) > kLongestSide) {
    fail("the picture has {}x{} pixels; attend takes sides of up to {}: cut it first",
         upright.width, upright.height, kLongestSide);
  }
  const Image resized =
      resize(upright, static_cast<int>(size.w), static_cast<int>(size.h), Filter::kBicubic);
  AttendInput input{upright.grid(), size, std::vector<float>(resized.rgb.size())};
  normalise(resized, preprocessing, input.pixels.data());
  return input;
}

AttendResult attend(const ModelSpec& spec, const RowSource& source, const AttendInput& input,
                    const AttendRequest& request) {
  const int stage = stage_of(spec, request);
  const int depth = spec.stages[stage].depth, count = spec.stages[stage].heads;
  const Range layers = chosen("layer", request.layer, depth, {depth - 1, depth});
  const Range heads = chosen("head", request.head, count, {0, std::min(2, count)});
  AttendResult result;
  result.grid = stage_grid(spec, stage, input.size);
  result.token = token_at(input, result.grid, request);
  const int64_t prefix = has_class_token(spec, stage) ? 1 : 0;
  const int64_t tokens = prefix + result.grid.size();
  const Array maps = source(
      {input.pixels.data(), 1, input.size},
      {stage, layers.begin, result.token, layers.end - layers.begin});  // [1, layers·heads, tokens]
  const float* map = maps.data.data();
  for (int layer = layers.begin; layer < layers.end; ++layer, map += count * tokens) {
    for (int head = heads.begin; head < heads.end; ++head) {
      const float* row = map + head * tokens;
      result.rows.push_back({stage + 1, layer + 1, head + 1, {row + prefix, row + tokens}});
    }
  }
  return result;
}

Json to_json(const AttendResult& result) {
  Json rows = Json::array();
  for (const AttendRow& row : result.rows) {
    rows.push_back(
        {{"stage", row.stage}, {"layer", row.layer}, {"head", row.head}, {"row", row.row}});
  }
  return {{"grid", {result.grid.h, result.grid.w}}, {"rows", std::move(rows)}};
}

}  // namespace soft
