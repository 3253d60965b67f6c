#include "engine/lane.h"

#include <algorithm>

#include "base/finite.h"
#include "engine/team.h"
#include "kernels/carver.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

std::vector<StageShape> shapes_of(const Network& network, Grid image, int team) {
  std::vector<StageShape> shapes;
  for (int s = 0; s < static_cast<int>(network.stages.size()); ++s) {
    shapes.push_back(stage_shape(network, s, image, team));
  }
  return shapes;
}

// The largest of each array over all stages, in floats.
struct LaneFloats {
  int64_t map = 0, projected = 0, mixed = 0, shared = 0, worker = 0;

  int64_t total(int team) const {
    return 2 * padded(map) + padded(projected) + padded(mixed) + padded(shared) +
           team * padded(worker);
  }
};

int64_t largest_map(const PackedStage& stage, const StageShape& shape) {
  Grid grid = shape.input;
  int64_t largest = stage.embed.front().shape.in * grid.size();
  for (const Dense& conv : stage.embed) {
    grid = conv.shape.output(grid);
    largest = std::max(largest, conv.shape.out * (grid.size() + shape.mix.prefix));
  }
  return largest;
}

LaneFloats floats_of(const Network& network, const std::vector<StageShape>& shapes) {
  LaneFloats floats;
  const auto raise = [](int64_t& most, int64_t value) { most = std::max(most, value); };
  for (size_t s = 0; s < shapes.size(); ++s) {
    const StageShape& shape = shapes[s];
    const MixNeeds needs = mix_needs(shape.mix);
    raise(floats.map, largest_map(network.stages[s], shape));
    raise(floats.projected, shape.tokens() * shape.projected);
    raise(floats.mixed, shape.tokens() * shape.dim());
    raise(floats.shared, needs.shared);
    raise(floats.worker, std::max(needs.worker, shape.tile_floats()));
  }
  return floats;
}

std::vector<StageCode> compile(const Network& network, const std::vector<StageShape>& shapes) {
  std::vector<StageCode> code;
  for (size_t s = 0; s < shapes.size(); ++s) code.emplace_back(network.stages[s], shapes[s]);
  return code;
}

}  // namespace

Lane::Lane(std::shared_ptr<const Network> network, Grid image, int team)
    : Carrier(team),
      network_(std::move(network)),
      image_(image),
      shapes_(shapes_of(*network_, image, team)),
      code_(compile(*network_, shapes_)),
      head_(network_->head.shape, {1, 1}, team, 1) {
  head_.adopt(network_->head);
  const LaneFloats floats = floats_of(*network_, shapes_);
  memory_ = Buffer(floats.total(team));
  Carver carver(memory_.data());
  for (float*& map : maps_) map = carver.take(floats.map);
  projected_ = carver.take(floats.projected);
  mixed_ = carver.take(floats.mixed);
  shared_ = carver.take(floats.shared);
  worker_floats_ = padded(floats.worker);
  workers_ = carver.take(team * worker_floats_);
}

size_t Lane::bytes_for(const Network& network, Grid image, int team) {
  const std::vector<StageShape> shapes = shapes_of(network, image, team);
  int64_t floats = floats_of(network, shapes).total(team);
  for (const StageShape& shape : shapes) floats += shape.tokens() * shape.dim();  // positions
  return static_cast<size_t>(floats) * sizeof(float);
}

size_t Lane::bytes() const {
  size_t sum = memory_.bytes();
  for (const StageCode& code : code_) sum += code.positions.size() * sizeof(float);
  return sum;
}

// [3, H, W] -> [H, W, 3], the layout of everything that follows.
void Lane::read_pixels(const float* pixels) {
  const int64_t plane = image_.size();
  tokens_ = maps_[0];
  share(team_, image_.h, [&](int, int64_t row) {
    float* out = tokens_ + 3 * row * image_.w;
    for (int64_t i = row * image_.w; i < (row + 1) * image_.w; ++i) {
      for (int64_t c = 0; c < 3; ++c) *out++ = pixels[c * plane + i];
    }
  });
}

void Lane::make_tokens(int stage) {
  const Stopwatch watch(profile_.at(stage, Phase::kEmbed));
  const PackedStage& packed = network_->stages[stage];
  const int64_t front = packed.prefix * packed.dim();
  for (size_t i = 0; i < packed.embed.size(); ++i) {
    const bool last = i + 1 == packed.embed.size();
    float* to = tokens_ == maps_[0] ? maps_[1] : maps_[0];
    code_[stage].embed[i].run(0, packed.embed[i], tokens_, to + (last ? front : 0));
    tokens_ = to;
  }
  if (front > 0) std::copy_n(network_->class_token.data(), front, tokens_);
}

TilePass Lane::pass(int stage, int worker, Tile tile) const {
  const StageShape& shape = shapes_[stage];
  const int64_t at = tile.begin * shape.dim();
  Carver carver(workers_ + worker * worker_floats_);
  TileRows rows{};
  rows.count = tile.count;
  rows.x = tokens_ + at;
  rows.projected = projected_ + tile.begin * shape.projected;
  rows.mixed = mixed_ + at;
  rows.branch = carver.take(shape.tile_rows * shape.dim());
  rows.normed = carver.take(shape.tile_rows * shape.dim());
  rows.hidden = carver.take(shape.tile_rows * shape.hidden);
  return TilePass(code_[stage], worker, rows);
}

void Lane::enter_stage(int stage) {
  const Stopwatch watch(profile_.at(stage, Phase::kEnter));
  const StageShape& shape = shapes_[stage];
  share(team_, shape.tiles(), [&](int worker, int64_t index) {
    const Tile tile = shape.tile(index);
    const float* positions = code_[stage].positions.data() + tile.begin * shape.dim();
    const int64_t skip = std::clamp<int64_t>(shape.mix.prefix - tile.begin, 0, tile.count);
    pass(stage, worker, tile).enter(network_->stages[stage], positions, skip);
  });
}

MixJob Lane::job(int stage, int layer) const {
  return {network_->stages[stage].layers[layer], projected_, shared_, workers_, worker_floats_};
}

void Lane::mix_tokens(int stage, int layer) {
  const Stopwatch watch(profile_.at(stage, Phase::kMix));
  fallbacks_ += mix(shapes_[stage].mix, job(stage, layer), mixed_);
}

void Lane::leave_layer(int stage, int layer, bool all_tokens) {
  const Stopwatch watch(profile_.at(stage, Phase::kLeave));
  const auto& layers = network_->stages[stage].layers;
  const bool last_layer = layer + 1 == static_cast<int>(layers.size());
  const bool last_stage = stage + 1 == static_cast<int>(shapes_.size());
  Following next;
  if (!last_layer) next.layer = &layers[layer + 1];
  if (last_layer && last_stage) next.last_norm = &network_->norm;
  if (next.last_norm != nullptr && !all_tokens) {
    return pass(stage, 0, {0, shapes_[stage].mix.prefix}).leave(layers[layer], next);
  }
  share(team_, shapes_[stage].tiles(), [&](int worker, int64_t index) {
    pass(stage, worker, shapes_[stage].tile(index)).leave(layers[layer], next);
  });
}

void Lane::run(const float* pixels, const Goal& goal) {
  ++profile_.images;
  read_pixels(pixels);
  for (int s = 0; s < static_cast<int>(shapes_.size()); ++s) {
    make_tokens(s);
    enter_stage(s);
    if (goal.watch) goal.watch(embedding_place(s), s);
    for (int i = 0; i < static_cast<int>(network_->stages[s].layers.size()); ++i) {
      if (goal.row != nullptr && goal.row->stage == s && i >= goal.row->layer) {
        goal.at_row(i);
        if (i + 1 == goal.row->layer + goal.row->layers) return;
      }
      if (goal.at_mix) goal.at_mix(s, i);
      mix_tokens(s, i);
      leave_layer(s, i, goal.all_tokens);
      if (goal.watch) goal.watch(layer_place(s, i), s);
    }
    if (goal.after_stage) goal.after_stage(s);
  }
}

// The class token's vector, or the mean of all tokens.
void Lane::pool(float* out) const {
  const StageShape& shape = shapes_.back();
  if (shape.mix.prefix > 0) {
    std::copy_n(tokens_, shape.dim(), out);
    return;
  }
  std::fill_n(out, shape.dim(), 0.0f);
  for (int64_t i = 0; i < shape.tokens(); ++i) {
    for (int64_t c = 0; c < shape.dim(); ++c) out[c] += tokens_[i * shape.dim() + c];
  }
  for (int64_t c = 0; c < shape.dim(); ++c) out[c] /= static_cast<float>(shape.tokens());
}

Lane::Goal Lane::pooled_goal() const {
  Goal goal;
  goal.all_tokens = shapes_.back().mix.prefix == 0;
  return goal;
}

void Lane::embed(const float* pixels, float* out) {
  run(pixels, pooled_goal());
  pool(out);
}

void Lane::logits(const float* pixels, float* out) {
  run(pixels, pooled_goal());
  const Stopwatch watch(profile_.at(shapes_.size() - 1, Phase::kHead));
  pool(workers_);
  head_.run(0, network_->head, workers_, out);
}

void Lane::features(const float* pixels, const std::vector<float*>& maps) {
  Goal goal;
  goal.after_stage = [&](int stage) {
    const StageShape& shape = shapes_[stage];
    const int64_t dim = shape.dim(), count = shape.mix.grid.size();
    transpose(count, dim, tokens_ + shape.mix.prefix * dim, dim, maps[stage], count);  // [C, H·W]
  };
  run(pixels, goal);
}

void Lane::attention_row(const float* pixels, const RowQuery& query, float* out,
                         HeadPower* powers) {
  const MixShape& shape = shapes_[query.stage].mix;
  Goal goal;
  goal.row = &query;
  goal.at_row = [&](int layer) {
    const int64_t first = (layer - query.layer) * shape.spec.heads;
    const MixJob own = job(query.stage, layer);
    mix_power(shape, own, mixed_, powers + first);
    mix_row(shape, own, query.token + shape.prefix, out + first * shape.tokens());  // [h, n]
  };
  run(pixels, goal);
}

void Lane::powers(const float* pixels, HeadPower* out) {
  Goal goal = pooled_goal();
  goal.at_mix = [&](int stage, int layer) {
    mix_power(shapes_[stage].mix, job(stage, layer), mixed_, out);
    out += shapes_[stage].mix.spec.heads;
  };
  run(pixels, goal);
}

std::string Lane::first_not_finite(const float* pixels) {
  std::string first;
  Goal goal;
  goal.watch = [&](const std::string& place, int stage) {
    const int64_t count = shapes_[stage].tokens() * shapes_[stage].dim();
    if (first.empty() && !all_finite(tokens_, count)) first = place;
  };
  run(pixels, goal);
  return first;
}

}  // namespace soft
