#include "train/state.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;

constexpr ptrdiff_t kStatesKept = 2;

TensorView view_of(const Tensor& tensor) {
  const DType type = tensor.scalar_type() == torch::kUInt8 ? DType::kU8 : DType::kF32;
  return {type, tensor.sizes().vec(), static_cast<const uint8_t*>(tensor.data_ptr())};
}

Tensor tensor_of(const TensorView& view) {
  const auto type = view.type == DType::kU8 ? torch::kUInt8 : torch::kFloat32;
  Tensor tensor = torch::empty(view.shape, type);
  std::memcpy(tensor.data_ptr(), view.data, view.bytes());
  return tensor;
}

State read_state(const std::string& path) {
  const StateFile read = read_state_file(path);
  State state{read.position, {}};
  for (const auto& [name, view] : read.file.tensors) state.tensors[name] = tensor_of(view);
  return state;
}

}  // namespace

std::vector<std::string> StateFolder::paths() const {
  std::vector<std::string> found;
  if (!fs::is_directory(folder_)) return found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());  // names hold the step with leading zeros
  return found;
}

std::string StateFolder::newest() const {
  const auto found = paths();
  return found.empty() ? "" : found.back();
}

void StateFolder::save(const State& state) const {
  make_folder(folder_);
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : state.tensors) tensors.push_back({name, view_of(tensor)});
  const Position& at = state.position;
  const std::string name = fmt::format("step-{:09}-{:05}.safetensors", at.step, at.epoch);
  const std::string path = (fs::path(folder_) / name).string();  // as paths() spells it
  write_state_file(path, at, tensors);
  const auto found = paths();
  const auto behind = std::upper_bound(found.begin(), found.end(), path);
  for (auto later = behind; later != found.end(); ++later) fs::remove(*later);
  const auto kept = std::min<ptrdiff_t>(kStatesKept, behind - found.begin());
  for (auto old = found.begin(); old != behind - kept; ++old) fs::remove(*old);
}

std::optional<State> StateFolder::load() const {
  auto found = paths();
  for (auto path = found.rbegin(); path != found.rend(); ++path) {
    try {
      return read_state(*path);
    } catch (const Error& error) {
      log("skipping a state: {}", error.what());
    }
  }
  return std::nullopt;
}

}  // namespace soft
