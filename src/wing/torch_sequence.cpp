// Sequences behind the door of the wing.
#include "wing/torch_sequence.h"

#include "model/sequence_model.h"
#include "train/sequence_trainer.h"
#include "weights/sequence_card.h"
#include "wing/torch_guard.h"

namespace soft {

SequenceOutcome train_sequences(const SequenceTrainRequest& request, const SequenceEvents& events) {
  keep_freed_memory();
  return guarded(request.threads, [&] { return SequenceTrainer(request, events).run(); });
}

SequenceAnswers open_sequence_model(const Weights& weights, int threads) {
  const auto model = guarded(threads, [&] {
    auto made = std::make_shared<SequenceModel>(sequence_card(weights).spec);
    load_weights(*made, weights);
    made->eval();
    return made;
  });
  SequenceAnswers answers;
  answers.logits = [model, threads](const int32_t* tokens, int64_t count, int64_t width) {
    return guarded(threads, [&] {
      const torch::NoGradGuard no_grad;
      const int sides = model->spec().sides;
      const torch::Tensor logits =
          model->forward(pack(tokens, sides * count, width, sides)).contiguous();
      const float* first = logits.data_ptr<float>();
      return std::vector<float>(first, first + logits.numel());
    });
  };
  return answers;
}

}  // namespace soft
