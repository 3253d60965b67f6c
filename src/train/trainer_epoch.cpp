// The end of an epoch: evaluation, a look at the attention, the row of the log.
#include <cmath>

#include "attention/torch.h"
#include "train/batch_input.h"
#include "train/health.h"
#include "train/trainer.h"

namespace soft {
namespace {

using torch::Tensor;

struct Stopped : std::exception {};  // asked to leave in the middle of an evaluation

// "stage 1 layer 1, stage 2 layer 2"; "" when all of them do something.
std::string idle_layers(const std::vector<LayerHealth>& layers) {
  std::string text;
  for (const LayerHealth& layer : layers) {
    if (!(layer.share < kIdleShare)) continue;
    text += fmt::format("{}stage {} layer {}", text.empty() ? "" : ", ", layer.stage, layer.layer);
  }
  return text;
}
}  // namespace

bool Trainer::finish_epoch() {
  if (replica_ && parts_.samples > 0) agree_on(replica_->sum(parts_));  // too few for a step
  EpochRow row;
  row.epoch = at_.epoch + 1;
  row.lr = learning_rate(plan_.run.recipe, schedule_, at_.epoch, 1);
  row.train_loss = at_.loss_sum / at_.loss_weight;
  row.seconds = at_.seconds;
  row.images_per_second = at_.loss_weight / at_.seconds;
  Evaluation evaluation;
  try {
    evaluation = evaluate_with(val_loader_, evaluated());
    row.top1_weights = average_ ? evaluate_with(val_loader_, *model_).top1 : evaluation.top1;
  } catch (const Stopped&) {
    save_state();  // all steps of the epoch are made; a resumed run evaluates again
    return false;
  }
  check_finite("validation loss", evaluation.loss, row.lr);
  if (average_) row.top1_ema = evaluation.top1;
  row.val_loss = evaluation.loss;
  row.top1 = evaluation.top1;
  row.top5 = evaluation.top5;
  const double chance = std::log(static_cast<double>(plan_.run.spec.classes));
  if (std::abs(row.train_loss - chance) < 0.01 * chance && plan_.run.spec.classes > 1) {
    notice(
        fmt::format("the loss {:.4f} is still that of guessing, ln({}) = {:.4f}: check the labels "
                    "and the learning rate",
                    row.train_loss, plan_.run.spec.classes, chance));
  }
  row.health = watch_attention();
  at_.rows.push_back(row);
  ++at_.epoch;
  at_.batch = 0;
  at_.loss_sum = at_.loss_weight = at_.seconds = 0;
  save_state();
  save_epoch();
  if (events_.epoch) events_.epoch(row);
  return true;
}

// A few pictures are enough to see whether a layer does anything at all.
std::vector<LayerHealth> Trainer::watch_attention() {
  constexpr int64_t kPictures = 32;
  LoaderOptions options = val_loader_.options();
  options.batch = std::min<int64_t>(kPictures, plan_.val.size());
  Loader few(limited(plan_.val, options.batch), options);
  few.start(0);
  const Batch* batch = few.next();
  if (batch == nullptr) return {};
  std::vector<LayerHealth> layers = layer_health(evaluated(), input_of(*batch).pixels);
  const std::string idle = idle_layers(layers);
  const bool known = !at_.rows.empty() && idle == idle_layers(at_.rows.back().health);
  if (!idle.empty() && !known && plan_.run.spec.attention != Mechanism::kNone) {
    notice("the attention of " + idle + " idles: it adds less than a thousandth of what V has; " +
           "`--set kernel_scale=paper --set normalise=rows` is one cure (docs/forms.md)");
  }
  return layers;
}

Classifier& Trainer::evaluated() { return average_ ? *average_ : *model_; }

Evaluation Trainer::evaluate_with(Loader& loader, Classifier& model) const {
  model.eval();
  const auto logits = [&](const Batch& batch) {
    if (asked_to_stop()) throw Stopped();
    const torch::NoGradGuard no_grad;
    const Tensor output = model.forward(input_of(batch)).contiguous();
    return std::vector<float>(output.data_ptr<float>(), output.data_ptr<float>() + output.numel());
  };
  if (!replica_) return evaluate(loader, logits);
  Evaluation own;
  bool stopped = false;
  try {
    own = evaluate(loader, logits);
  } catch (const Stopped&) {
    stopped = true;  // the others must hear of it
  }
  const auto all = replica_->total(own, stopped);
  if (!all) throw Stopped();
  return *all;
}

}  // namespace soft
