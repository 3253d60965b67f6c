#include "engine/walk.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/finite.h"
#include "describe/positions.h"
#include "kernels/carver.h"
#include "kernels/gemm.h"

namespace soft {
namespace {

LinearForm form_of(const Network& network) {
  return network.parts.back().dense.shape.form;  // the classifier's
}

int64_t worker_floats_of(const WalkPlan& plan) {
  int64_t most = 0;
  for (const Step& step : plan.steps) most = std::max(most, step_scratch(step));
  return padded(most);
}

int64_t floats_of(const WalkPlan& plan, int team) {
  int64_t floats = team * worker_floats_of(plan);
  for (const int64_t size : plan.buffers) floats += padded(size);
  return floats;
}

// What is added to an array of this shape.
int64_t position_floats(const WalkPlan& plan) {
  int64_t floats = 0;
  for (const Step& step : plan.steps) {
    if (std::holds_alternative<work::AddRows>(step.work)) floats += step.output.count();
  }
  return floats;
}

std::string place_text(const Place& place) {
  if (place.stage < 0) return classifier_place();
  return place.layer < 0 ? embedding_place(place.stage) : layer_place(place.stage, place.layer);
}

double square_sum(const View& view, const float* head) {  // of one head, [n, d]
  double sum = 0;
  for (int64_t i = 0; i < view.shape[1]; ++i) {
    for (int64_t c = 0; c < view.shape[2]; ++c) {
      const double value = head[i * view.strides[1] + c];
      sum += value * value;
    }
  }
  return sum;
}

const work::Attend* whole_attention(const Step& step) {
  const auto* attend = std::get_if<work::Attend>(&step.work);
  return attend != nullptr && attend->whole ? attend : nullptr;
}

Phase phase_of(const Step& step) {
  if (step.place.stage < 0) return Phase::kHead;
  if (std::holds_alternative<work::Attend>(step.work)) return Phase::kMix;
  return step.place.layer < 0 ? Phase::kEmbed : Phase::kLeave;
}

}  // namespace

// One overload per kind of work.
struct StepRun {
  Walk& walk;
  size_t index;
  const Arrays arrays;

  void operator()(const work::Look&) const {}
  void operator()(const work::ReadPixels&) const { read_pixels(arrays, walk.pixels_); }
  void operator()(const work::RunDense& dense) const {
    const Step& step = arrays.step;
    if (dense.shape.sum && arrays.in[1] != arrays.out) {
      std::copy_n(arrays.in[1], step.output.count(), arrays.out);
    }
    const Dense& weights = walk.network_->parts[dense.part].dense;
    walk.runners_[index]->run(0, weights, arrays.in[0], arrays.out);
  }
  void operator()(const work::RunNorm&) const { run_norm(arrays, own().norm); }
  void operator()(const work::PutToken&) const { put_token(arrays, own().values); }
  void operator()(const work::AddRows&) const { add_rows(arrays, walk.positions_[index]); }
  void operator()(const work::Attend& work) const { attend(arrays, work); }
  void operator()(const work::Bend& work) const { bend(arrays, work.curve); }
  void operator()(const work::Add& work) const { add(arrays, work.relu); }
  void operator()(const work::MeanRows&) const { average(arrays); }
  void operator()(const work::PoolWindows& work) const { pool_windows(arrays, work.pool); }

  const PackedPart& own() const { return walk.network_->parts[arrays.step.part]; }
};

Walk::Walk(std::shared_ptr<const Network> network, Grid image, int team)
    : Carrier(team),
      network_(std::move(network)),
      model_(describe(network_->spec, image)),
      plan_(plan_walk(model_, form_of(*network_))),
      positions_(plan_.steps.size()),
      memory_(floats_of(plan_, team)),
      worker_floats_(worker_floats_of(plan_)) {
  Carver carver(memory_.data());
  for (const int64_t size : plan_.buffers) buffers_.push_back(carver.take(size));
  workers_ = carver.take(team * worker_floats_);
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Part& part = model_.parts[plan_.steps[i].part];
    if (const auto* position = part.as<op::Position>()) {
      positions_[i] = resized_positions(network_->parts[plan_.steps[i].part].values, *position);
    }
  }
  compile();
}

// Steps of the same shape share their code.
void Walk::compile() {
  using Key =
      std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool, int, int64_t, int64_t>;
  std::map<Key, size_t> known;
  std::vector<size_t> chosen(plan_.steps.size());
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const auto* dense = std::get_if<work::RunDense>(&plan_.steps[i].work);
    if (dense == nullptr) continue;
    const DenseShape& s = dense->shape;
    const Key key{s.in,        s.out,      s.kernel, s.stride,
                  s.padding,   s.relu,     s.sum,    static_cast<int>(s.form),
                  dense->in.h, dense->in.w};
    const auto [found, added] = known.emplace(key, code_.size());
    if (added) code_.emplace_back(s, dense->in, team_, 1);
    code_[found->second].adopt(network_->parts[dense->part].dense);
    chosen[i] = found->second;
  }
  for (const size_t code : chosen) runners_.push_back(&code_[code]);
}

size_t Walk::bytes_for(const Network& network, Grid image, int team) {
  const WalkPlan plan = plan_walk(describe(network.spec, image), form_of(network));
  return static_cast<size_t>(floats_of(plan, team) + position_floats(plan)) * sizeof(float);
}

size_t Walk::bytes() const {
  return memory_.bytes() + static_cast<size_t>(position_floats(plan_)) * sizeof(float);
}

Arrays Walk::arrays(const Step& step) const {
  std::vector<const float*> in;
  for (const View& view : step.inputs) in.push_back(data(view));
  return {step, std::move(in), data(step.output), team_, workers_, worker_floats_};
}

void Walk::run_step(size_t index) {
  const Step& step = plan_.steps[index];
  const size_t stage = step.place.stage < 0 ? model_.stages.size() - 1 : step.place.stage;
  const Stopwatch watch(profile_.at(std::min(stage, kMostStages - 1), phase_of(step)));
  std::visit(StepRun{*this, index, arrays(step)}, step.work);
}

void Walk::run(const float* pixels, const Watch& watch) {
  ++profile_.images;
  pixels_ = pixels;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    if (watch && !watch(i)) return;
    run_step(i);
  }
}

void Walk::logits(const float* pixels, float* out) {
  run(pixels);
  const View& last = plan_.steps.back().output;
  std::copy_n(data(last), last.count(), out);
}

void Walk::embed(const float* pixels, float* out) {
  run(pixels, [&](size_t step) { return step + 1 < plan_.steps.size(); });
  std::copy_n(data(plan_.embedding), plan_.embedding.count(), out);
}

// Every stage's answer ends a step.
void Walk::features(const float* pixels, const std::vector<float*>& maps) {
  size_t stage = 0;
  run(pixels, [&](size_t next) {
    const bool ends = next > 0 && plan_.steps[next - 1].part == model_.stages[stage].features;
    if (ends) {
      const StageOutline& outline = model_.stages[stage];
      const float* values = data(plan_.steps[next - 1].output);
      const int64_t cells = outline.grid.size();
      const int64_t dim = plan_.steps[next - 1].output.count() / (cells + outline.prefix);
      transpose(cells, dim, values + outline.prefix * dim, dim, maps[stage++], cells);
    }
    return stage < model_.stages.size();
  });
}

void Walk::row(const Step& step, int64_t token, float* out) const {
  const Arrays own = arrays(step);
  const int64_t n = step.inputs[1].shape[1];
  for (int64_t head = 0; head < step.inputs[0].shape[0]; ++head) {
    softmax_row(softmax_head(own, std::get<work::Attend>(step.work), head), token, out + head * n);
  }
}

// The attention of this step runs, to see what is in it.
void Walk::power(const Step& step, HeadPower* out) {
  run_step(static_cast<size_t>(&step - plan_.steps.data()));
  const View &v = step.inputs[2], &y = step.output;
  for (int64_t head = 0; head < v.shape[0]; ++head) {
    out[head] = {square_sum(y, data(y) + head * y.strides[0]),
                 square_sum(v, data(v) + head * v.strides[0])};
  }
}

void Walk::attention_row(const float* pixels, const RowQuery& query, float* out,
                         HeadPower* powers) {
  const int64_t prefix = model_.stages[query.stage].prefix;
  int left = query.layers;
  run(pixels, [&](size_t next) {
    const Step& step = plan_.steps[next];
    const bool asked = whole_attention(step) != nullptr && step.place.stage == query.stage &&
                       step.place.layer >= query.layer;
    if (!asked) return true;
    const int64_t heads = step.inputs[0].shape[0];
    power(step, powers);
    row(step, query.token + prefix, out);
    powers += heads;
    out += heads * step.inputs[1].shape[1];
    return --left > 0;
  });
}

void Walk::powers(const float* pixels, HeadPower* out) {
  run(pixels, [&](size_t next) {
    const Step& step = plan_.steps[next];
    if (whole_attention(step) == nullptr) return true;
    power(step, out);
    out += step.inputs[0].shape[0];
    return true;
  });
}

std::string Walk::first_not_finite(const float* pixels) {
  std::string first;
  run(pixels, [&](size_t next) {
    if (next == 0 || plan_.steps[next].place == plan_.steps[next - 1].place) return true;
    const Step& step = plan_.steps[next - 1];
    if (all_finite(data(step.output), step.output.count())) return true;
    first = place_text(step.place);
    return false;
  });
  return first;
}

}  // namespace soft
