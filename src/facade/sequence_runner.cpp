#include "facade/sequence_runner.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "data/listops.h"
#include "data/sequence.h"
#include "data/utf8.h"
#include "facade/one_at_a_time.h"
#include "wing/wing.h"

namespace soft {
namespace {

bool is_listops(const SequenceCard& card) { return card.task == "listops"; }

void check_utf8(std::string_view text, const std::string& name, bool begun) {
  if (text.empty()) fail("{} is empty", name);
  Utf8Check utf8;
  const bool good = utf8.take(text.data(), text.size());
  if (!good || (!begun && !utf8.whole())) fail("{} is not UTF-8", name);
}

}  // namespace

SequenceRunner::SequenceRunner(const Weights& weights)
    : card_(std::make_shared<const SequenceCard>(sequence_card(weights))) {
  SequenceAnswers answers = torch_wing().open_sequences(weights, threads());
  answers.logits = one_at_a_time(std::make_shared<std::mutex>(), std::move(answers.logits));
  answers_ = std::make_shared<const SequenceAnswers>(std::move(answers));
}

std::vector<float> SequenceRunner::logits(
    const std::vector<const std::vector<int32_t>*>& texts) const {
  size_t width = 0;
  for (const auto* text : texts) width = std::max(width, text->size());
  std::vector<int32_t> tokens(texts.size() * width);
  for (size_t i = 0; i < texts.size(); ++i) {
    std::copy(texts[i]->begin(), texts[i]->end(),
              tokens.begin() + static_cast<ptrdiff_t>(i * width));
  }
  return logits(tokens.data(), static_cast<int64_t>(texts.size()), static_cast<int64_t>(width));
}

TextTokens SequenceRunner::read_text(std::string_view text, const std::string& name,
                                     bool begun) const {
  check_utf8(text, name, begun);
  const int64_t most = card_->cut;
  TextTokens tokens;
  tokens.ids = is_listops(*card_) ? listops_tokens(text, most + 1) : byte_tokens(text, most + 1);
  if (tokens.ids.empty()) fail("there is no token in {}", name);
  tokens.cut = static_cast<int64_t>(tokens.ids.size()) > most;
  if (tokens.cut) tokens.ids.pop_back();
  return tokens;
}

// ListOps' brackets make its text longer than its tokens are many.
int64_t SequenceRunner::longest_text() const {
  constexpr int64_t kLongestToken = 16;
  return is_listops(*card_) ? kLongestToken * card_->cut : card_->cut;
}

bool is_sequence_model(const ModelOptions& options) { return is_sequence_file(options.weights); }

SequenceRunner open_sequence_runner(const ModelOptions& options, const std::string& engine) {
  if (!options.model.empty() || !options.attention.empty() || !options.settings.empty() ||
      !options.weights_key.empty()) {
    fail_usage(
        "'{}' is a model of sequences, whose settings are in its file; leave --model, "
        "--attention, --set and --weights-key away",
        options.weights);
  }
  if (!engine.empty() && engine != "torch") {
    fail_usage("models of sequences run on --engine torch, not on '{}'", engine);
  }
  return SequenceRunner(read_weights(options.weights));
}

void check_reads_texts(const SequenceCard& card) {
  if (card.spec.sides == 1 && card.task != "image") return;
  fail_usage("{} reads no single text", card.spec.name);
}

}  // namespace soft
