// Labelled sequences of tokens, wherever they come from: the counterpart of data/dataset.h for text
// and the Long Range Arena. 0 is padding everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace soft {

enum class SequencePart { kTrain, kDev, kTest };

struct SequenceSet {
  std::string name;                  // as asked for: "listops:data/listops"
  std::vector<std::string> classes;  // class index -> name
  std::vector<int> labels;           // one class index per example
  int sides = 1;                     // sequences in an example: 2 where pairs are compared
  int64_t length = 0;                // of the longest possible sequence
  int64_t vocabulary = 0;            // ids are smaller
  int64_t cut = 0;                   // sequences that were longer than `length`
  bool divided = false;              // it has its own development examples…
  bool shared = false;               // …which are the test's, too

  // One sequence of 1 to `length` tokens; `side` is 0, or 1 for the second of a pair. Both may be
  // called from any thread; `load` throws Error for a text that cannot be read.
  std::function<std::vector<int32_t>(int64_t index, int side)> load;
  std::function<std::string(int64_t index)> describe;  // file, and line or number

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t class_count() const { return static_cast<int64_t>(classes.size()); }
};

struct SequenceRequest {
  // listops[:DIR], imdb[:DIR|FILE.tar.gz], aan[:DIR], cifar10-grey[:DIR], text:DIR, tsv:FILE
  std::string spec;
  SequencePart part = SequencePart::kTrain;
  int64_t length = 4000;  // longer sequences are cut; one notice counts them
  int64_t limit = 0;      // at most so many examples; 0: all
  // cifar10-grey: black pixels have id 0 and count as padding, as in the public protocol.
  bool black_is_padding = false;
};

// Everything that can be known to be wrong before the first sequence is read is an Error here.
SequenceSet open_sequences(const SequenceRequest& request);

SequenceSet subset(SequenceSet set, std::vector<int64_t> chosen);

// Per cent of the examples that have the most frequent label: what knowing nothing gives.
double best_constant(const SequenceSet& set);

// Bytes as tokens: byte + 1, the first `length` of them.
std::vector<int32_t> byte_tokens(std::string_view text, int64_t length);
constexpr int64_t kByteVocabulary = 512;

}  // namespace soft
