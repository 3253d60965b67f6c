// What the torch wing exports: one function per command. LibTorch's errors become soft::Error here,
// without their backtraces.
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <filesystem>

#include "attention/defect.h"
#include "attention/fast_path.h"
#include "attention/gelu.h"
#include "attention/torch.h"
#include "base/finite.h"
#include "train/health.h"
#include "train/plan.h"
#include "train/session.h"
#include "wing/torch_case.h"
#include "wing/torch_exchange.h"
#include "wing/torch_guard.h"
#include "wing/torch_sequence.h"
#include "wing/wing.h"

extern "C" void sgemm_(...);  // whichever BLAS the process ended up with

namespace soft {
namespace {

using torch::Tensor;

Array array_of(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const float* values = dense.data_ptr<float>();
  return {dense.sizes().vec(), std::vector<float>(values, values + dense.numel())};
}

// The same as `answer` when it is one; otherwise an Error that names where the model went wrong.
Array checked(Array answer, Classifier& model, const Tensor& images, const std::string& otherwise) {
  if (all_finite(answer.data.data(), static_cast<int64_t>(answer.data.size()))) return answer;
  const std::string place = model.first_not_finite(images);
  fail_not_finite(place.empty() ? otherwise : place);
}

// How a model is asked: without gradients, through the fused attention or beside it.
struct Asking {
  int threads;
  bool fused;

  template <class Question>
  auto operator()(const ImageBatch& images, const Question& question) const {
    return guarded(threads, [&] {
      const torch::NoGradGuard no_grad;
      const FastPathScope path(fused);
      return question(torch::from_blob(const_cast<float*>(images.pixels),
                                       {images.count, 3, images.size.h, images.size.w},
                                       torch::kFloat32));
    });
  }
};

Answers open(const TorchModel& request) {
  const auto model = guarded(request.threads, [&] { return make_model(request); });
  const Asking ask{request.threads, request.fused};
  Answers answers;
  answers.logits = [model, ask](const ImageBatch& batch) {
    return ask(batch, [&](const Tensor& images) {
      return checked(array_of(model->forward(images)), *model, images, classifier_place()).data;
    });
  };
  answers.vectors = [model, ask](const ImageBatch& batch) {
    return ask(batch, [&](const Tensor& images) {
      return checked(array_of(model->embed(images)), *model, images, classifier_place()).data;
    });
  };
  answers.features = [model, ask](const ImageBatch& batch) {
    return ask(batch, [&](const Tensor& images) {
      std::vector<Array> maps;
      for (const Tensor& map : model->features(images)) {
        maps.push_back(checked(array_of(map), *model, images, classifier_place()));
      }
      return maps;
    });
  };
  answers.rows = [model, ask](const ImageBatch& batch, const RowQuery& row) {
    return ask(batch, [&](const Tensor& images) {
      AttentionRows rows;
      const auto add_shares = [&](const Classifier::Mixing& mixing) {
        const std::vector<double> own = head_shares(mixing);
        rows.shares.insert(rows.shares.end(), own.begin(), own.end());
      };
      rows.maps = checked(array_of(model->attention_row(images, row.stage, row.layer, row.token,
                                                        row.layers, add_shares)),
                          *model, images, attention_place(row.stage, row.layer));
      return rows;
    });
  };
  answers.shares = [model, ask](const ImageBatch& batch) {
    return ask(batch, [&](const Tensor& images) { return head_shares(*model, images); });
  };
  return answers;
}

HealthAnswers examine(const TorchModel& request) {
  const auto model = guarded(request.threads, [&] { return make_model(request); });
  const Asking ask{request.threads, request.fused};
  HealthAnswers answers;
  answers.heads = [model, ask](const ImageBatch& batch) {
    return ask(batch, [&](const Tensor& images) { return head_health(*model, images); });
  };
  answers.logits_without = [model, ask](const ImageBatch& batch, const Silence& parts) {
    return ask(batch, [&](const Tensor& images) {
      return array_of(logits_without(*model, images, parts)).data;
    });
  };
  return answers;
}

std::string blas_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&sgemm_), &info) == 0 || info.dli_fname == nullptr) return "";
  return std::filesystem::weakly_canonical(info.dli_fname).string();
}

std::string blas_kind(const std::string& library) {
  if (library.find("openblas-openmp") != std::string::npos) return "OpenBLAS (OpenMP)";
  if (library.find("openblas-pthread") != std::string::npos) return "OpenBLAS (pthread)";
  return library.empty() ? "unknown" : std::filesystem::path(library).filename().string();
}

// The instruction set of LibTorch's own kernels, from the last word of its build report.
std::string vector_capability() {
  const std::string report = at::show_config();
  const std::string label = "CPU capability usage: ";
  const size_t at_label = report.find(label);
  if (at_label == std::string::npos) return "unknown";
  const size_t begin = at_label + label.size();
  return report.substr(begin, report.find('\n', begin) - begin);
}

Json gelu_defect() {
  constexpr double kTolerance = 1e-5;
  const double theirs = gelu_gradient_error([](const Tensor& x) { return torch::gelu(x); });
  const double ours = gelu_gradient_error(erf_gelu);
  return {{"name", "erf-GELU gradient is wrong for a non-contiguous incoming gradient"},
          {"found", !(theirs < kTolerance)},
          {"cured", ours < kTolerance},
          {"cure", "an own GELU is used throughout"}};
}

Json doctor(int threads) {
  return guarded(threads, [] {
    const std::string library = blas_library();
    Json report;
    report["libtorch"] = TORCH_VERSION;
    report["capability"] = vector_capability();
    report["blas"] = blas_kind(library);
    report["blas_library"] = library;
    report["threads"] = std::to_string(at::get_num_threads());
    report["defects"] = Json::array({gelu_defect()});
    return report;
  });
}

TrainOutcome train(const TrainRequest& request, const TrainEvents& events) {
  keep_freed_memory();
  return guarded(request.threads, [&] { return run_training(request, events); });
}

constexpr TorchWing kWing{
    open,          doctor,          repeated_step,       repeated_mix,  trace_inverse, train,
    list_settings, train_sequences, open_sequence_model, time_exchange, examine};

}  // namespace
}  // namespace soft

extern "C" __attribute__((visibility("default"))) const soft::TorchWing* soft_torch_wing() {
  return &soft::kWing;
}
