#include "engine/dense.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <array>

#include "base/error.h"
#include "engine/onednn.h"
#include "engine/team.h"

namespace soft {
namespace {

using dnnl::memory;
using Type = memory::data_type;
using Tag = memory::format_tag;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Scratch memory is the caller's: then one primitive may run on several threads at once.
dnnl::primitive_attr attributes(const DenseShape& shape) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops after;
  if (shape.sum) after.append_sum();
  if (shape.relu) onednn::append_relu(after);
  attr.set_post_ops(after);
  return attr;
}

memory::desc bias_desc(const DenseShape& shape) {
  if (shape.form == LinearForm::kMatmul) return {{1, shape.out}, Type::f32, Tag::ab};
  return {{shape.out}, Type::f32, Tag::a};
}

// How the weights file stores them: [out, in, kernel, kernel].
memory::desc stored_desc(const DenseShape& shape) {
  if (shape.form == LinearForm::kMatmul) return {{shape.in, shape.out}, Type::f32, Tag::ba};
  return {{shape.out, shape.in, shape.kernel, shape.kernel}, Type::f32, Tag::oihw};
}

dnnl::primitive_desc describe_matmul(const DenseShape& shape, int64_t rows) {
  const memory::desc src({rows, shape.in}, Type::f32, Tag::ab);
  const memory::desc weights({shape.in, shape.out}, Type::f32, Tag::any);
  const memory::desc dst({rows, shape.out}, Type::f32, Tag::ab);
  return onednn::describe(onednn::MatmulLayout{src, weights, bias_desc(shape), dst},
                          attributes(shape), cpu());
}

dnnl::primitive_desc describe(const DenseShape& shape, Grid in) {
  if (shape.form == LinearForm::kMatmul) return describe_matmul(shape, in.size());
  const Grid out = shape.output(in);
  const int64_t k = shape.kernel;
  const memory::desc src({1, shape.in, in.h, in.w}, Type::f32, Tag::nhwc);
  const memory::desc weights({shape.out, shape.in, k, k}, Type::f32, Tag::any);
  const memory::desc dst({1, shape.out, out.h, out.w}, Type::f32, Tag::nhwc);
  const onednn::ConvolutionLayout layout{src, weights,      bias_desc(shape),
                                         dst, shape.stride, shape.padding};
  return onednn::describe(layout, attributes(shape), cpu());
}

memory reordered(memory& from, const memory::desc& layout) {
  memory to(layout, cpu());
  dnnl::stream stream(cpu());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}

// Below AVX-512 oneDNN's matmul reads plain weights and packs them anew at every call.
bool matmul_packs() {
  const DenseShape shape{64, 256, 1, 1, 0, false, LinearForm::kMatmul};
  const memory::desc plain({shape.in, shape.out}, Type::f32, Tag::ab);
  const memory::desc chosen = describe(shape, {64, 1}).weights_desc();
  return chosen != plain && chosen != stored_desc(shape);
}

}  // namespace

LinearForm resolve(LinearForm form) {
  static const bool packs = matmul_packs();
  if (form != LinearForm::kBest) return form;
  return packs ? LinearForm::kMatmul : LinearForm::kConvolution;
}

Dense pack_dense(const DenseShape& shape, Grid typical, const float* weight, const float* bias) {
  Dense dense;
  dense.shape = shape;
  dense.bias = memory(bias_desc(shape), cpu());
  memory stored(stored_desc(shape), cpu(), const_cast<float*>(weight));
  dense.weights = reordered(stored, describe(shape, typical).weights_desc());
  std::copy_n(bias, shape.out, static_cast<float*>(dense.bias.get_data_handle()));
  return dense;
}

Dense pack_dense(const DenseShape& shape, const Int8Source& source) {
  Dense dense;
  dense.shape = shape;
  dense.int8 = std::make_shared<const Int8Dense>(pack_int8(shape, source));
  return dense;
}

DenseRunner::DenseRunner(const DenseShape& shape, Grid in, int threads, int workers)
    : shape_(shape), in_(in), threads_(threads), int8_(shape, in), slots_(workers) {}

void DenseRunner::compile() {
  const ThreadScope scope(threads_);
  const dnnl::primitive_desc plan = describe(shape_, in_);
  weights_ = plan.weights_desc();
  primitive_ = dnnl::primitive(plan);
  for (Slot& slot : slots_) {
    slot.stream = dnnl::stream(cpu());
    slot.src = memory(plan.src_desc(), cpu(), nullptr);
    slot.dst = memory(plan.dst_desc(), cpu(), nullptr);
    slot.scratch = memory(plan.scratchpad_desc(), cpu());
  }
}

void DenseRunner::adopt(const Dense& dense) {
  if (dense.int8) {
    for (Slot& slot : slots_) int8_.reserve(*dense.int8, slot.int8);
    return;
  }
  if (!primitive_) compile();
  memory packed = dense.weights;
  if (packed.get_desc() != weights_) own_copies_.emplace(&dense, reordered(packed, weights_));
}

void DenseRunner::run(int worker, const Dense& dense, const float* src, float* dst) const {
  if (dense.watch) dense.watch(src, in_.size());
  Slot& slot = slots_[worker];
  if (dense.int8) {
    return int8_.run(*dense.int8, shape_.relu, threads_, {}, const_cast<float*>(src), slot.int8,
                     dst);  // without a GELU it only reads
  }
  slot.src.set_data_handle(const_cast<float*>(src));
  slot.dst.set_data_handle(dst);
  const auto copy = own_copies_.find(&dense);
  const memory& weights = copy == own_copies_.end() ? dense.weights : copy->second;
  const std::array<dnnl_exec_arg_t, 5> arguments{{{DNNL_ARG_SRC, slot.src.get()},
                                                  {DNNL_ARG_WEIGHTS, weights.get()},
                                                  {DNNL_ARG_BIAS, dense.bias.get()},
                                                  {DNNL_ARG_DST, slot.dst.get()},
                                                  {DNNL_ARG_SCRATCHPAD, slot.scratch.get()}}};
  const ThreadScope scope(threads_);  // as compiled: its scratch memory is for that many
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), slot.stream.get(),
                                                      arguments.size(), arguments.data());
  if (status != dnnl_success) fail("oneDNN cannot run a layer: {}", dnnl_status2str(status));
}

void DenseRunner::run_gelu(int worker, const Dense& dense, GeluForm form, float* src,
                           float* dst) const {
  if (dense.int8) {
    return int8_.run(*dense.int8, shape_.relu, threads_, form, src, slots_[worker].int8, dst);
  }
  const int64_t rows = in_.size(), cols = shape_.in;
  gelu({form, rows, cols}, {src, cols}, {src, cols});
  run(worker, dense, src, dst);
}

RowRunner::RowRunner(const DenseShape& shape, const std::vector<int64_t>& row_counts, int workers) {
  for (int64_t rows : row_counts) {
    if (rows > 0) runners_.try_emplace(rows, shape, Grid{rows, 1}, 1, workers);
  }
}

void RowRunner::adopt(const Dense& dense) {
  for (auto& [rows, runner] : runners_) runner.adopt(dense);
}

}  // namespace soft
