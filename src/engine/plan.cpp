#include "engine/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/fuse.h"

namespace soft {
namespace {

// Buffers that serve one value after the other: a value's goes back when nobody will read it.
class Buffers {
 public:
  int take(int64_t floats) {
    int best = -1;  // the smallest that is large enough, else the largest
    for (int i = 0; i < static_cast<int>(sizes_.size()); ++i) {
      if (!free_[i]) continue;
      const bool fits = sizes_[i] >= floats,
                 better = best < 0 || (sizes_[best] < floats ? sizes_[i] > sizes_[best]
                                                             : fits && sizes_[i] < sizes_[best]);
      if (better) best = i;
    }
    if (best < 0) {
      best = static_cast<int>(sizes_.size());
      sizes_.push_back(0);
      free_.push_back(false);
    }
    sizes_[best] = std::max(sizes_[best], floats);
    free_[best] = false;
    return best;
  }
  void give_back(int buffer) { free_[buffer] = true; }

  std::vector<int64_t> sizes_;

 private:
  std::vector<bool> free_;
};

[[noreturn]] void refuse(const Part& part) {
  fail_usage("the native engine does not have this kind of {}{}{}", name_of(part.operation),
             part.name.empty() ? "" : ": ", part.name);
}

// One overload per operation that the engine has; others are refused by their names.
class Planner {
 public:
  Planner(const Description& model, LinearForm form)
      : model_(model),
        form_(resolve(form)),
        values_(model.parts.size()),
        readers_(model.parts.size()) {}

  WalkPlan run() {
    const std::vector<Task> tasks = fused(model_);
    for (const Task& task : tasks) {
      for (const int input : task.inputs) ++readers_[input];
    }
    for (const Task& task : tasks) add(task);
    plan_.buffers = buffers_.sizes_;
    plan_.embedding = plan_.steps.back().inputs[0];
    return std::move(plan_);
  }

  void operator()(const op::Pixels&) {
    finish(work::ReadPixels{}, map_view(fresh(), shape()[0], {shape()[1], shape()[2]}));
  }

  void operator()(const op::Convolution&) { convolution(task_->part, {}); }

  void operator()(const op::Linear& linear) {
    const int64_t rows = x().count() / linear.in;
    need(is_rows(x()));
    const DenseShape dense{linear.in, linear.out, 1, 1, 0, false, form_};
    finish(work::RunDense{dense, {rows, 1}, task_->part}, tokens_view(fresh(), shape()));
  }

  void operator()(const op::LayerNorm& norm) {
    need(is_rows(x()));
    finish(work::RunNorm{norm.epsilon}, tokens_view(fresh(), shape()));
  }

  void operator()(const op::Flatten&) {
    need(is_map(x()));
    const View& map = x();
    look({map.buffer, map.offset, shape(), {map.shape[0], 1}});
  }

  void operator()(const op::Unflatten& unflatten) {
    need(is_rows(x()));
    View map = map_view(x().buffer, shape()[0], unflatten.grid);
    map.offset = x().offset + unflatten.prefix * shape()[0];
    look(map);
  }

  void operator()(const op::ClassToken&) {
    need(is_rows(x()));
    finish(work::PutToken{}, tokens_view(fresh(), shape()));
  }

  void operator()(const op::Position&) {
    need(is_rows(x()));
    finish(work::AddRows{}, in_place_of({0}));
  }

  void operator()(const op::Slice& slice) {
    look(narrowed(x(), slice.axis, slice.begin, slice.length));
  }

  void operator()(const op::Mix& mix) {
    const AttentionSpec& spec = mix.spec;
    need(spec.mechanism == Mechanism::kSoftmax && part().tensors.empty());
    const int64_t tokens = shape()[0], d = spec.head_dim();
    std::vector<View> heads;
    for (size_t i = 0; i < 3; ++i) {
      heads.push_back(permuted(*reshaped(input(i), {tokens, spec.heads, d}), {1, 0, 2}));
    }
    attend(std::move(heads), {1 / std::sqrt(static_cast<double>(d)), true});
    finish_as(tokens_view(plan_.steps.back().output.buffer, shape()));
  }

  void operator()(const op::Product&) {
    need(task_->scale != 0);
    attend({input(0), input(1), input(2)}, {task_->scale, false});
    finish_as(plan_.steps.back().output);
  }

  void operator()(const op::Activate& activate) {
    if (task_->inputs.size() == 2) return sum();
    need(activate.curve == Curve::kRelu || activate.curve == Curve::kErfGelu ||
         activate.curve == Curve::kTanhGelu);
    need(is_rows(x()) || is_map(x()));
    finish(work::Bend{activate.curve}, in_place_of({0}));
  }

  void operator()(const op::Residual&) { sum(); }

  void operator()(const op::Pool& pool) {
    need(is_rows(x()));
    if (!pool.first) return finish(work::MeanRows{}, tokens_view(fresh(), shape()));
    look(*reshaped(narrowed(x(), 0, 0, 1), shape()));
  }

  void operator()(const op::WindowPool& pool) {
    need(is_map(x()));
    finish(work::PoolWindows{pool}, map_view(fresh(), shape()[0], {shape()[1], shape()[2]}));
  }

  void operator()(const op::GlobalMean&) {
    need(is_map(x()));
    finish(work::MeanRows{}, map_view(fresh(), shape()[0], {1, 1}));
  }

  void operator()(const op::Reshape&) {
    const std::optional<View> view = reshaped(x(), shape());
    need(view.has_value());
    look(*view);
  }

  void operator()(const op::Permute& permute) { look(permuted(x(), permute.axes)); }

  template <class Other>
  void operator()(const Other&) {
    refuse(part());
  }

 private:
  const Part& part() const { return model_.parts[task_->part]; }
  const std::vector<int64_t>& shape() const { return part().shape; }
  const View& input(size_t index) const { return values_[task_->inputs[index]]; }
  const View& x() const { return input(0); }
  void need(bool condition) const {
    if (!condition) refuse(part());
  }

  void add(const Task& task) {
    task_ = &task;
    std::visit(*this, part().operation);
    for (const int input : task.inputs) leave(input);
  }

  int fresh() {
    int64_t floats = 1;
    for (const int64_t side : shape()) floats *= side;
    const int buffer = buffers_.take(floats);
    if (buffer == static_cast<int>(lookers_.size())) lookers_.push_back(0);
    return buffer;
  }

  // The first of these inputs whose buffer nobody else reads any more, or a new buffer alike.
  View in_place_of(const std::vector<size_t>& inputs) {
    for (const size_t index : inputs) {
      const int from = task_->inputs[index];
      if (readers_[from] == 1 && lookers_[values_[from].buffer] == 1) return values_[from];
    }
    View view = input(inputs.front());
    view.buffer = fresh();
    view.offset = 0;
    return view;
  }

  void convolution(int index, const DenseShape& after) {
    const auto& conv = *model_.parts[index].as<op::Convolution>();
    need(is_map(x()) && conv.groups == 1 && !conv.shared &&
         (conv.after == Curve::kNone || conv.after == Curve::kRelu));
    DenseShape dense{conv.in, conv.out, conv.kernel, conv.stride, conv.padding};
    dense.relu = after.relu || conv.after == Curve::kRelu;
    dense.sum = after.sum;
    const View output =
        dense.sum ? in_place_of({1}) : map_view(fresh(), shape()[0], {shape()[1], shape()[2]});
    finish(work::RunDense{dense, grid_of(x()), index}, output);
  }

  void sum() {
    if (task_->convolution >= 0) {
      need(is_map(input(1)));
      DenseShape after;
      after.sum = true;
      after.relu = task_->relu;
      return convolution(task_->convolution, after);
    }
    need(lie_alike(input(0), input(1)) && (is_rows(x()) || is_map(x())));
    finish(work::Add{task_->relu}, in_place_of({0, 1}));
  }

  // The output lies as tokens [n, h·d], so that merging heads costs nothing.
  void attend(std::vector<View> heads, const work::Attend& attend) {
    const View& q = heads[0];
    for (const View& view : heads) need(view.shape.size() == 3 && view.strides[2] == 1);
    const int64_t h = q.shape[0], n = q.shape[1], d = q.shape[2];
    const View output{fresh(), 0, {h, n, d}, {d, h * d, 1}};
    plan_.steps.push_back({attend, task_->part, part().place, std::move(heads), output});
  }

  void look(const View& view) { finish(work::Look{}, view); }

  void finish(const Work& work, const View& output) {
    std::vector<View> inputs;
    for (size_t i = 0; i < task_->inputs.size(); ++i) inputs.push_back(input(i));
    plan_.steps.push_back({work, task_->part, part().place, std::move(inputs), output});
    finish_as(output);
  }

  void finish_as(const View& value) {
    values_[task_->part] = value;
    ++lookers_[value.buffer];
  }

  void leave(int input) {
    if (--readers_[input] > 0) return;
    const int buffer = values_[input].buffer;
    if (--lookers_[buffer] == 0) buffers_.give_back(buffer);
  }

  const Description& model_;
  LinearForm form_;
  const Task* task_ = nullptr;
  std::vector<View> values_;  // of parts
  std::vector<int> readers_;  // tasks that will still read a part
  std::vector<int> lookers_;  // parts in a buffer that will still be read
  Buffers buffers_;
  WalkPlan plan_;
};

}  // namespace

WalkPlan plan_walk(const Description& model, LinearForm form) { return Planner(model, form).run(); }

}  // namespace soft
