// What a run leaves in its folder: states to continue from, weights and the log.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "model/checkpoint.h"
#include "train/trainer.h"

namespace soft {
namespace {

// A number for each layer, "-" where it has none.
std::string by_layer(const EpochRow& row, double LayerHealth::*number) {
  std::string text;
  for (const LayerHealth& layer : row.health) {
    const double value = layer.*number;
    text += text.empty() ? "" : " ";
    text += std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
  }
  return text;
}

}  // namespace

using torch::Tensor;

void Trainer::restore(const State& state) {
  const torch::NoGradGuard no_grad;
  const auto restore_into = [&](const std::string& name, const Tensor& target) {
    const auto found = state.tensors.find(name);
    if (found == state.tensors.end() || found->second.sizes() != target.sizes()) {
      fail(
          "the state in '{0}' has no fitting '{1}'; leave out the changed setting, or begin a new "
          "run with --init {0}/last.safetensors",
          request_.out, name);
    }
    target.copy_(found->second);
  };
  for (const ModelTensor& own : model_->tensors()) restore_into("model." + own.name, own.tensor);
  if (average_) {
    for (const ModelTensor& own : average_->tensors()) restore_into("ema." + own.name, own.tensor);
  }
  for (Slot& slot : optimizer_->slots()) {
    restore_into("mean." + slot.name, slot.mean);
    restore_into("square." + slot.name, slot.square);
  }
  at_ = state.position;
  epoch_was_whole_ = at_.batch == 0;
  optimizer_->set_steps(at_.step);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(state.tensors.at("generator"));
  const int64_t pictures = plan_.run.recipe.batch * plan_.run.world;
  const bool other_batches = (at_.batches != 0 && at_.batches != train_loader_.batches()) ||
                             (at_.pictures != 0 && at_.pictures != pictures);
  if (at_.batch > 0 && (other_batches || at_.batch % plan_.run.recipe.accumulate != 0)) {
    notice(fmt::format("epoch {} starts anew: its batches have changed", at_.epoch + 1));
    at_.batch = 0;
    at_.loss_sum = at_.loss_weight = at_.seconds = 0;
  }
}

// Rank 0's tensors and place for all: whatever it has read or drawn, the others have, too.
void Trainer::join_others() {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> tensors;
  Replica::Tensors shared;
  for (const ModelTensor& own : model_->tensors()) {
    tensors.push_back(own.tensor);
    if (own.kind == TensorKind::kStatistic) shared.statistics.push_back(own.tensor);
  }
  if (average_) {
    for (const ModelTensor& own : average_->tensors()) tensors.push_back(own.tensor);
  }
  for (const Slot& slot : optimizer_->slots()) {
    shared.parameters.push_back(slot.parameter);
    tensors.push_back(slot.mean);
    tensors.push_back(slot.square);
  }
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  tensors.push_back(generator.get_state());
  group_->broadcast(tensors);
  generator.set_state(tensors.back());
  at_ = position_from_text(group_->broadcast(to_text(at_)), "the position of rank 0");
  optimizer_->set_steps(at_.step);
  replica_ = std::make_unique<Replica>(*group_, *model_, std::move(shared), plan_.run.recipe);
}

void Trainer::save_state() {
  if (!writes()) return;
  lock_->check();
  State state;
  state.position = at_;
  state.position.batches = train_loader_.batches();
  state.position.pictures = plan_.run.recipe.batch * plan_.run.world;
  for (const ModelTensor& own : model_->tensors()) state.tensors["model." + own.name] = own.tensor;
  if (average_) {
    for (const ModelTensor& own : average_->tensors()) {
      state.tensors["ema." + own.name] = own.tensor;
    }
  }
  for (const Slot& slot : optimizer_->slots()) {
    state.tensors["mean." + slot.name] = slot.mean;
    state.tensors["square." + slot.name] = slot.square;
  }
  state.tensors["generator"] = at::detail::getDefaultCPUGenerator().get_state();
  states_.save(state);
  last_save_ = Clock::now();
}

// The state is written before them, and they follow from it: so they agree however a process ends.
void Trainer::save_epoch() {
  if (!writes()) return;
  lock_->check();
  save_weights(at_.rows.back());
  write_log();
}

// A process killed between its state and the other files left these behind. Only the state at the
// end of an epoch has the weights of its last row; inside the next one they were written before.
void Trainer::catch_up() {
  if (at_.rows.empty()) return;
  if (epoch_was_whole_) save_epoch();
  write_log();
}

void Trainer::save_weights(const EpochRow& row) {
  Card card = plan_.card;
  card.extra = {{"data", plan_.run.data}, {"recipe", to_json(plan_.run.recipe)},
                {"epoch", row.epoch},     {"top1", row.top1},
                {"top5", row.top5},       {"ema", plan_.run.recipe.ema}};
  const auto tensors = weights_of(evaluated());
  write_safetensors(request_.out + "/last.safetensors", tensors, metadata_of(card));
  const bool best = std::none_of(at_.rows.begin(), at_.rows.end() - 1,
                                 [&](const EpochRow& earlier) { return earlier.top1 >= row.top1; });
  if (best) write_safetensors(request_.out + "/best.safetensors", tensors, metadata_of(card));
}

void Trainer::write_log() const {
  write_atomically(request_.out + "/log.csv", [&](std::ostream& out) {
    out << "epoch,train_loss,val_loss,top1,top5,lr,images_per_second,seconds,top1_weights,top1_"
           "ema,share,kernel_median,rank\n";
    for (const EpochRow& row : at_.rows) {
      out << fmt::format("{},{:.6f},{:.6f},{:.4f},{:.4f},{:.6e},{:.2f},{:.2f},{:.4f},{},{},{},{}\n",
                         row.epoch, row.train_loss, row.val_loss, row.top1, row.top5, row.lr,
                         row.images_per_second, row.seconds, row.top1_weights,
                         row.top1_ema < 0 ? "" : fmt::format("{:.4f}", row.top1_ema),
                         by_layer(row, &LayerHealth::share),
                         by_layer(row, &LayerHealth::kernel_median),
                         by_layer(row, &LayerHealth::rank));
    }
  });
}

}  // namespace soft
