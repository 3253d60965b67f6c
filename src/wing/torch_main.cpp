// What the torch wing exports: one function per command. LibTorch's errors become soft::Error here,
// without their backtraces.
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <filesystem>

#include "attention/defect.h"
#include "attention/gelu.h"
#include "base/error.h"
#include "base/parallel.h"
#include "model/checkpoint.h"
#include "train/trainer.h"
#include "wing/wing.h"

extern "C" void sgemm_(...);  // whichever BLAS the process ended up with

namespace soft {
namespace {

using torch::Tensor;

// Runs a command with LibTorch's errors translated and its threads set.
template <class Command>
auto guarded(int threads, const Command& command) {
  set_threads(threads);
  at::set_num_threads(soft::threads());
  try {
    return command();
  } catch (const c10::Error& error) {
    fail("LibTorch: {}", error.what_without_backtrace());
  }
}

Tensor tensor_of(const Array& array) {
  return torch::from_blob(const_cast<float*>(array.data.data()), array.shape, torch::kFloat32);
}

Array array_of(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const float* values = dense.data_ptr<float>();
  return {dense.sizes().vec(), std::vector<float>(values, values + dense.numel())};
}

std::shared_ptr<Classifier> make_model(const TorchModel& request) {
  torch::manual_seed(request.seed);
  auto model = std::make_shared<Classifier>(request.spec);
  if (!request.weights.empty()) {
    load_weights(*model, read_weights(request.weights, request.weights_key));
  }
  model->eval();
  return model;
}

TorchForwardResult forward(const TorchForward& request) {
  return guarded(request.threads, [&] {
    const torch::NoGradGuard no_grad;
    const auto model = make_model(request);
    const Tensor images = tensor_of(request.input);
    TorchForwardResult result;
    result.logits = array_of(model->forward(images));
    if (!request.features) return result;
    for (const Tensor& map : model->features(images)) result.features.push_back(array_of(map));
    return result;
  });
}

TorchLogits open(const TorchModel& request) {
  return guarded(request.threads, [&]() -> TorchLogits {
    const auto model = make_model(request);
    return [model, threads = request.threads](const float* pixels, int64_t count, Grid size) {
      return guarded(threads, [&] {
        const torch::NoGradGuard no_grad;
        const Tensor images = torch::from_blob(const_cast<float*>(pixels),
                                               {count, 3, size.h, size.w}, torch::kFloat32);
        return array_of(model->forward(images)).data;
      });
    };
  });
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
  return guarded(request.threads, [&] {
    Plan plan = make_plan(resolve(request));
    if (request.dry_run) return TrainOutcome{describe(plan), {}, false};
    return Trainer(std::move(plan), request, events).run();
  });
}

constexpr TorchWing kWing{forward, open, doctor, train};

}  // namespace
}  // namespace soft

extern "C" __attribute__((visibility("default"))) const soft::TorchWing* soft_torch_wing() {
  return &soft::kWing;
}
