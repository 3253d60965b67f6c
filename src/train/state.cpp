#include "train/state.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "data/sha256.h"
#include "weights/weights.h"

namespace soft {
namespace {

namespace fs = std::filesystem;
using torch::Tensor;

constexpr ptrdiff_t kStatesKept = 2;

EpochRow row_from_json(const Json& json) {
  EpochRow row;
  row.epoch = json.at("epoch");
  row.train_loss = json.at("train_loss");
  row.val_loss = json.at("val_loss");
  row.top1 = json.at("top1");
  row.top5 = json.at("top5");
  row.lr = json.at("lr");
  row.images_per_second = json.at("images_per_second");
  row.seconds = json.at("seconds");
  row.top1_weights = json.value("top1_weights", row.top1);
  if (json.contains("top1_ema") && !json["top1_ema"].is_null()) row.top1_ema = json["top1_ema"];
  return row;
}

Json to_json(const Position& position) {
  Json rows = Json::array();
  for (const EpochRow& row : position.rows) rows.push_back(soft::to_json(row));
  return {{"epoch", position.epoch},       {"batch", position.batch},
          {"batches", position.batches},   {"step", position.step},
          {"loss_sum", position.loss_sum}, {"loss_weight", position.loss_weight},
          {"seconds", position.seconds},   {"rows", rows}};
}

Position position_from_json(const Json& json) {
  Position position;
  position.epoch = json.at("epoch");
  position.batch = json.at("batch");
  position.batches = json.value("batches", int64_t{0});
  position.step = json.at("step");
  position.loss_sum = json.at("loss_sum");
  position.loss_weight = json.at("loss_weight");
  position.seconds = json.value("seconds", 0.0);
  for (const Json& row : json.at("rows")) position.rows.push_back(row_from_json(row));
  return position;
}

TensorView view_of(const Tensor& tensor) {
  const DType type = tensor.scalar_type() == torch::kUInt8 ? DType::kU8 : DType::kF32;
  return {type, tensor.sizes().vec(), static_cast<const uint8_t*>(tensor.data_ptr())};
}

Tensor tensor_of(const std::string& name, const TensorView& view) {
  if (view.type != DType::kU8 && view.type != DType::kF32) {
    fail("'{}' has a type that no training state holds", name);
  }
  const auto type = view.type == DType::kU8 ? torch::kUInt8 : torch::kFloat32;
  Tensor tensor = torch::empty(view.shape, type);
  std::memcpy(tensor.data_ptr(), view.data, view.bytes());
  return tensor;
}

std::string sha256(std::string_view text) {
  Sha256 sum;
  sum.add(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return sum.hex();
}

// Over names and content of all tensors, in the order of their names: two runs that made the same
// weights, EMA and optimizer have the same one, however long they took.
std::string checksum(const std::map<std::string, TensorView>& views) {
  Sha256 sum;
  for (const auto& [name, view] : views) {
    sum.add(reinterpret_cast<const uint8_t*>(name.data()), name.size());
    sum.add(view.data, view.bytes());
  }
  return sum.hex();
}

using Metadata = std::map<std::string, std::string>;

Metadata metadata_of(const std::string& position, const std::map<std::string, TensorView>& views) {
  return {{"position", position},
          {"position_sha256", sha256(position)},
          {"tensors_sha256", checksum(views)}};
}

State read_state(const std::string& path) {
  const Weights file = read_weights(path);
  const auto found = file.metadata.find("position");
  if (found == file.metadata.end()) fail("'{}' is not a training state", path);
  const std::string& position = found->second;
  if (file.metadata != metadata_of(position, file.tensors)) {
    fail("'{}' is damaged: its checksum is wrong", path);
  }
  State state;
  state.position = position_from_json(parse_json(position, "position in '" + path + "'"));
  for (const auto& [name, view] : file.tensors) state.tensors[name] = tensor_of(name, view);
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
  std::map<std::string, TensorView> views;
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : state.tensors) {
    views[name] = view_of(tensor);
    tensors.push_back({name, views[name]});
  }
  const std::string position = to_json(state.position).dump();
  const Position& at = state.position;
  const std::string name = fmt::format("step-{:09}-{:05}.safetensors", at.step, at.epoch);
  const std::string path = (fs::path(folder_) / name).string();  // as paths() spells it
  write_safetensors(path, tensors, metadata_of(position, views));
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
    } catch (const Json::exception& error) {
      log("skipping a state: '{}' has a malformed position ({})", *path, error.what());
    }
  }
  return std::nullopt;
}

}  // namespace soft
