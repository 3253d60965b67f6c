// A model of sequences ready to answer. It runs on LibTorch, which is opened with the first one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facade/choice.h"
#include "weights/sequence_card.h"
#include "wing/sequence.h"

namespace soft {

struct TextTokens {
  std::vector<int32_t> ids;  // never empty
  bool cut = false;          // the text is longer than the model reads
};

// May be asked from any thread; questions are answered one after another. Copies share the model.
class SequenceRunner {
 public:
  explicit SequenceRunner(const Weights& weights);

  const SequenceCard& card() const { return *card_; }

  // tokens [sides·count, width], 0 for padding; [count, classes].
  std::vector<float> logits(const int32_t* tokens, int64_t count, int64_t width) const {
    return answers_->logits(tokens, count, width);
  }
  std::vector<float> logits(const std::vector<const std::vector<int32_t>*>& texts) const;

  // What the model sees of a text. Errors, which call it `name`, when it is empty, not UTF-8, or
  // has words that are no tokens. `begun`: more follows, so a character may be cut at the end.
  TextTokens read_text(std::string_view text, const std::string& name, bool begun = false) const;
  int64_t longest_text() const;  // so many bytes and one more say all that it can see of a text

 private:
  std::shared_ptr<const SequenceCard> card_;
  std::shared_ptr<const SequenceAnswers> answers_;
};

// Whether the weights that the options name are those of a model of sequences.
bool is_sequence_model(const ModelOptions& options);

// Its settings are those of its file, and its engine is LibTorch: a usage error for other wishes.
SequenceRunner open_sequence_runner(const ModelOptions& options, const std::string& engine);

// A usage error for models of pairs and of pixels.
void check_reads_texts(const SequenceCard& card);

}  // namespace soft
