#include "engine/attend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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
  const auto stages = static_cast<int>(spec.stages.size());
  const int second = std::min(1, stages - 1);
  if (request.stage == AttendRequest::kAll) {
    fail_usage("maps of several stages have several grids; choose one stage from 1 to {}", stages);
  }
  return chosen("stage", request.stage, stages, {second, second + 1}).begin;
}

// Stage, layers and heads of a request, all from 0.
struct Selection {
  int stage;
  Range layers, heads;
};

Selection selection_of(const ModelSpec& spec, const AttendRequest& request,
                       const std::optional<HeadPlace>& best) {
  const int stage = best ? best->stage - 1 : stage_of(spec, request);
  const int depth = spec.stages[stage].depth, count = spec.stages[stage].heads;
  const Range last{depth - 1, depth}, front{0, std::min(2, count)};
  return {stage,
          chosen("layer", request.layer, depth, best ? Range{best->layer - 1, best->layer} : last),
          chosen("head", request.head, count, best ? Range{best->head - 1, best->head} : front)};
}

double mean_of(const double* values, int count) {
  return std::accumulate(values, values + count, 0.0) / count;
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

HeadPlace best_head(const Card& card, const Answers& model, const AttendInput& input) {
  if (card.shown) return *card.shown;
  const std::vector<HeadShare> shares = model.shares({input.pixels.data(), 1, input.size});
  const auto mechanism = [&](int stage) { return attention_of(card.spec, stage).mechanism; };
  HeadPlace best{1, 1, 1};
  double most = -1;
  for (size_t first = 0; first < shares.size();) {
    const auto [stage, layer, head, share] = shares[first];
    const int heads = card.spec.stages.at(stage - 1).heads;
    double sum = 0;
    size_t largest = first;
    for (size_t i = first; i < first + heads; ++i) {
      sum += shares[i].share;
      if (shares[i].share > shares[largest].share) largest = i;
    }
    if (mechanism(stage - 1) == mechanism(0) && sum / heads > most) {
      most = sum / heads;
      best = {stage, layer, shares[largest].head};
    }
    first += heads;
  }
  return best;
}

AttendResult attend(const Card& card, const Answers& model, const AttendInput& input,
                    const AttendRequest& request) {
  const ModelSpec& spec = card.spec;
  if (spec.in_zoo()) fail_usage("attend does not know where {} has its attention", spec.name);
  AttendResult result;
  if (request.stage == AttendRequest::kBest) result.best = best_head(card, model, input);
  const auto [stage, layers, heads] = selection_of(spec, request, result.best);
  result.grid = stage_grid(spec, stage, input.size);
  result.token = token_at(input, result.grid, request);
  const int64_t prefix = has_class_token(spec, stage) ? 1 : 0;
  const int64_t tokens = prefix + result.grid.size();
  const AttentionRows rows =
      model.rows({input.pixels.data(), 1, input.size},
                 {stage, layers.begin, result.token, layers.end - layers.begin});
  const int count = spec.stages[stage].heads;
  for (int layer = layers.begin; layer < layers.end; ++layer) {
    const int64_t first = int64_t{layer - layers.begin} * count;  // of [layers·heads]
    const double mean = mean_of(rows.shares.data() + first, count);
    for (int head = heads.begin; head < heads.end; ++head) {
      const float* row = rows.maps.data.data() + (first + head) * tokens;
      result.rows.push_back({stage + 1,
                             layer + 1,
                             head + 1,
                             rows.shares[first + head],
                             mean,
                             {row + prefix, row + tokens}});
    }
  }
  return result;
}

Json to_json(const AttendResult& result) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  Json rows = Json::array();
  for (const AttendRow& row : result.rows) {
    rows.push_back({{"stage", row.stage},
                    {"layer", row.layer},
                    {"head", row.head},
                    {"share", number(row.share)},
                    {"layer_share", number(row.layer_share)},
                    {"idle", row.idle()},
                    {"row", row.row}});
  }
  Json json{{"grid", {result.grid.h, result.grid.w}}, {"rows", std::move(rows)}};
  if (result.best) {
    const auto [stage, layer, head] = *result.best;
    json["best"] = {{"stage", stage}, {"layer", layer}, {"head", head}};
  }
  return json;
}

}  // namespace soft
