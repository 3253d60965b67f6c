// ListOps files as sequences.
#include <memory>

#include "base/error.h"
#include "base/printable.h"
#include "data/listops.h"
#include "data/sequence_source.h"
#include "data/tsv.h"

namespace soft {
namespace {

// Tokens of all expressions, one byte each, cut.
struct Expressions {
  std::string file;
  std::vector<uint8_t> tokens;
  std::vector<uint64_t> ends;  // of each expression's tokens

  std::vector<int32_t> sequence(int64_t index) const {
    const uint64_t first = index == 0 ? 0 : ends[index - 1];
    return {tokens.begin() + static_cast<int64_t>(first),
            tokens.begin() + static_cast<int64_t>(ends[index])};
  }
};

// One expression's text to tokens, piece by piece.
class Tokeniser {
 public:
  Tokeniser(Expressions& out, uint64_t length) : out_(out), length_(length) {}

  void take(std::string_view piece) {
    for (char c : piece) {
      if (c != ' ') {
        word_ += c;
        if (word_.size() > kLongestWord) listops_token(word_);  // which no token is
      } else {
        end_word();
      }
    }
  }

  int finish() {  // its value
    end_word();
    const int value = machine_.value();
    out_.ends.push_back(out_.tokens.size());
    return value;
  }

  bool was_cut() const { return count_ > length_; }

 private:
  static constexpr size_t kLongestWord = 16;

  void end_word() {
    if (word_.empty()) return;
    const uint8_t token = listops_token(word_);
    word_.clear();
    if (token == 0) return;
    machine_.push(token);
    if (++count_ <= length_) out_.tokens.push_back(token);
  }

  Expressions& out_;
  uint64_t length_, count_ = 0;
  std::string word_;
  ListOpsMachine machine_;
};

void check_header(TsvReader& reader) {
  if (!reader.next_line()) fail("{}: the file is empty", reader.place());
  const std::string source = reader.short_field("header 'Source'");
  const std::string target = reader.short_field("header 'Target'");
  reader.end_line();
  if (source == "Source" && target == "Target") return;
  fail(
      "{}: '{}' and '{}' instead of the header 'Source', 'Target'; `soft lra generate listops` "
      "makes such files",
      reader.place(), printable(source), printable(target));
}

int label_of(const std::string& text, int value, const TsvReader& reader) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '9') {
    fail("{}: label '{}' is no digit", reader.place(), printable(text));
  }
  if (text[0] - '0' == value) return value;
  fail("{}: the label is {}, the expression's value {}", reader.place(), text, value);
}

int value_of(Tokeniser& tokeniser, const TsvReader& reader) {
  try {
    return tokeniser.finish();
  } catch (const Error& error) {
    fail("{}: {}", reader.place(), error.what());
  }
}

int read_expression(TsvReader& reader, Tokeniser& tokeniser) {
  reader.field("source", [&](std::string_view piece) { tokeniser.take(piece); });
  const int value = value_of(tokeniser, reader);
  const std::string target = reader.short_field("target");
  reader.end_line();
  return label_of(target, value, reader);
}

}  // namespace

SequenceSet open_listops(const std::string& file, int64_t length) {
  SequenceSet set;
  auto expressions = std::make_shared<Expressions>();
  expressions->file = file;
  TsvReader reader(file);
  check_header(reader);
  while (reader.next_line()) {
    Tokeniser tokeniser(*expressions, static_cast<uint64_t>(length));
    set.labels.push_back(read_expression(reader, tokeniser));
    set.cut += tokeniser.was_cut() ? 1 : 0;
  }
  if (set.labels.empty()) fail("'{}' has a header and nothing else", file);
  for (int digit = 0; digit < 10; ++digit) set.classes.push_back(std::to_string(digit));
  set.vocabulary = 32;
  set.divided = true;
  set.load = [expressions](int64_t index, int) { return expressions->sequence(index); };
  set.describe = [expressions](int64_t index) {
    return fmt::format("{}:{}", expressions->file, index + 2);
  };
  return set;
}

}  // namespace soft
