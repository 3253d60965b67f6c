#include "cli/sequences.h"

#include <fmt/core.h>

#include <iostream>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "data/sequence_loader.h"
#include "data/text_file.h"
#include "metric/probability.h"
#include "spec/names.h"

namespace soft {
namespace {

SequencePart part_of(const std::string& name) {
  return static_cast<SequencePart>(parse_name("part", name, {"train", "dev", "test"}));
}

// No more of standard input than the model reads, and one byte that tells whether there is more.
std::string read_standard_input(int64_t most) {
  std::string text(static_cast<size_t>(most) + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::cin.gcount()));
  return text;
}

TextTokens tokens_of(const SequenceRunner& runner, const std::string& input) {
  const int64_t most = runner.longest_text();
  const std::string name = input == "-" ? "standard input" : "'" + input + "'";
  const std::string text = input == "-" ? read_standard_input(most)
                                        : read_text_start(input, static_cast<uint64_t>(most) + 1);
  const bool begun = static_cast<int64_t>(text.size()) > most;
  TextTokens tokens = runner.read_text(text, name, begun);
  if (tokens.cut) log("{} is longer than {} tokens and was cut", name, runner.card().cut);
  return tokens;
}

Json text_json(const std::string& file, const std::vector<Ranked>& top, const SequenceCard& card) {
  Json classes = Json::array();
  for (const Ranked& ranked : top) {
    classes.push_back(
        {{"class", ranked.index}, {"name", card.classes[ranked.index]}, {"p", ranked.probability}});
  }
  return {{"file", file}, {"top", classes}};
}

}  // namespace

SequenceSet open_for(const SequenceCard& card, const std::string& data, SequencePart part,
                     int64_t limit) {
  SequenceRequest request;
  request.spec = data.empty() ? card.data : data;
  request.part = part;
  request.length = card.cut;
  request.limit = limit;
  SequenceSet set = open_sequences(request);
  if (set.classes != card.classes) {
    fail("'{}' has the classes {}, the weights {}", request.spec, fmt::join(set.classes, ", "),
         fmt::join(card.classes, ", "));
  }
  if (set.sides != card.spec.sides || set.vocabulary > card.spec.vocabulary) {
    fail("'{}' is no data for {}", request.spec, card.spec.name);
  }
  return set;
}

Tally tally_sequences(const SequenceRunner& runner, const SequenceSet& set, int64_t batch_size) {
  SequenceLoader loader(set, {batch_size, false, 0});
  loader.start(0);
  ProgressLine progress;
  Tally tally(set.class_count());
  for (SequenceBatch batch; loader.next(batch);) {
    const auto logits = runner.logits(batch.tokens.data(), batch.count, batch.length);
    for (int64_t i = 0; i < batch.count; ++i) {
      tally.add(logits.data() + i * set.class_count(), batch.labels[i]);
    }
    progress.show(fmt::format("{}/{} examples", tally.images(), set.size()),
                  share_of(tally.images(), set.size()));
  }
  return tally;
}

void evaluate_sequences(const SequenceEvalOptions& options) {
  const SequencePart part = part_of(options.part);
  const SequenceRunner runner = open_sequence_runner(options.model, options.engine);
  const SequenceSet set = open_for(runner.card(), options.data, part, options.limit);
  const Tally tally = tally_sequences(runner, set, options.batch);
  if (options.json) {
    return print_json({{"data", set.name},
                       {"part", options.part},
                       {"examples", tally.images()},
                       {"accuracy", tally.top1()},
                       {"loss", tally.loss()},
                       {"best_constant", best_constant(set)}});
  }
  fmt::print("{} examples of '{}' ({})\n", tally.images(), set.name, options.part);
  fmt::print("accuracy {:.2f} %  loss {:.4f}  best constant answer {:.2f} %\n", tally.top1(),
             tally.loss(), best_constant(set));
}

void classify_texts(const SequenceRunner& runner, const SequenceClassifyOptions& options) {
  check_reads_texts(runner.card());
  Json rows = Json::array();
  for (const std::string& input : options.inputs) {
    const TextTokens tokens = tokens_of(runner, input);
    const auto logits = runner.logits({&tokens.ids});
    const auto top = top_classes(logits.data(), static_cast<int64_t>(logits.size()), options.top);
    if (options.json) {
      rows.push_back(text_json(input, top, runner.card()));
      continue;
    }
    fmt::print("{}\n", shown(input));
    for (const Ranked& ranked : top) {
      fmt::print("  {:6.2f} %  {}\n", 100 * ranked.probability,
                 shown(runner.card().classes[ranked.index]));
    }
  }
  if (options.json) print_json(rows);
}

}  // namespace soft
