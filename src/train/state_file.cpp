#include "train/state_file.h"

#include "base/error.h"
#include "data/sha256.h"

namespace soft {
namespace {

using Views = std::map<std::string, TensorView>;

double number_of(const Json& json, const char* key) { return json.at(key).get<double>(); }

EpochRow row_from_json(const Json& json) {
  EpochRow row;
  row.epoch = count_at(json, "epoch");
  row.train_loss = number_of(json, "train_loss");
  row.val_loss = number_of(json, "val_loss");
  row.top1 = number_of(json, "top1");
  row.top5 = number_of(json, "top5");
  row.lr = number_of(json, "lr");
  row.images_per_second = number_of(json, "images_per_second");
  row.seconds = number_of(json, "seconds");
  row.top1_weights = json.value("top1_weights", row.top1);
  if (json.contains("top1_ema") && !json["top1_ema"].is_null()) {
    row.top1_ema = number_of(json, "top1_ema");
  }
  for (const Json& layer : json.value("health", Json::array())) {
    row.health.push_back(layer_health_from(layer));
  }
  return row;
}

Position position_from_json(const Json& json) {
  Position position;
  position.epoch = count_at(json, "epoch");
  position.batch = count_at(json, "batch");
  position.batches = json.contains("batches") ? count_at(json, "batches") : 0;
  position.step = count_at(json, "step");
  position.pictures = json.contains("pictures") ? count_at(json, "pictures") : 0;
  position.loss_sum = number_of(json, "loss_sum");
  position.loss_weight = number_of(json, "loss_weight");
  position.seconds = json.value("seconds", 0.0);
  for (const Json& row : json.at("rows")) position.rows.push_back(row_from_json(row));
  return position;
}

std::string sha256(std::string_view text) {
  Sha256 sum;
  sum.add(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return sum.hex();
}

// Over names and content of all tensors, in the order of their names: two runs that made the same
// weights, EMA and optimizer have the same one, however long they took.
std::string checksum(const Views& views) {
  Sha256 sum;
  for (const auto& [name, view] : views) {
    sum.add(reinterpret_cast<const uint8_t*>(name.data()), name.size());
    sum.add(view.data, view.bytes());
  }
  return sum.hex();
}

}  // namespace

std::string to_text(const Position& position) {
  Json rows = Json::array();
  for (const EpochRow& row : position.rows) rows.push_back(to_json(row));
  return Json{{"epoch", position.epoch},
              {"batch", position.batch},
              {"batches", position.batches},
              {"step", position.step},
              {"pictures", position.pictures},
              {"loss_sum", position.loss_sum},
              {"loss_weight", position.loss_weight},
              {"seconds", position.seconds},
              {"rows", rows}}
      .dump();
}

Position position_from_text(const std::string& text, const std::string& where) {
  const Json json = parse_json(text, where);
  try {
    return position_from_json(json);
  } catch (const Json::exception& error) {
    fail("{} is malformed ({})", where, error.what());
  } catch (const Error& error) {
    fail("{} is malformed: {}", where, error.what());
  }
}

std::map<std::string, std::string> state_metadata(const std::string& position,
                                                  const Views& tensors) {
  return {{"position", position},
          {"position_sha256", sha256(position)},
          {"tensors_sha256", checksum(tensors)}};
}

StateFile state_of(Weights file) {
  const std::string& path = file.path;
  const auto found = file.metadata.find("position");
  if (found == file.metadata.end()) fail("'{}' is not a training state", path);
  if (file.metadata != state_metadata(found->second, file.tensors)) {
    fail("'{}' is damaged: its checksum is wrong", path);
  }
  for (const auto& [name, view] : file.tensors) {
    if (view.type == DType::kU8 || view.type == DType::kF32) continue;
    fail("'{}' in '{}' has a type that no training state holds", name, path);
  }
  Position position = position_from_text(found->second, "the position in '" + path + "'");
  return {std::move(position), std::move(file)};
}

StateFile read_state_file(const std::string& path) { return state_of(read_weights(path)); }

void write_state_file(const std::string& path, const Position& position,
                      const std::vector<NamedTensor>& tensors) {
  Views views;
  for (const NamedTensor& tensor : tensors) views[tensor.name] = tensor.view;
  write_safetensors(path, tensors, state_metadata(to_text(position), views));
}

}  // namespace soft
