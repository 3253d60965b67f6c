// Texts in the lines of one file.
#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/printable.h"
#include "data/bytes_literal.h"
#include "data/natural.h"
#include "data/sequence_source.h"
#include "data/text_file.h"
#include "data/tsv.h"

namespace soft {
namespace {

// Where a text lies in its file, and how long it is once decoded.
struct Located {
  TextPlace place;
  uint64_t bytes = 0;
  bool literal = false;
};

// Looks through a text as it passes by; keeps none of it.
class Look {
 public:
  explicit Look(bool literals) : decided_(!literals) {}

  void take(std::string_view piece) {
    found_.place.size += piece.size();
    if (decided_) return count(piece);
    start_ += piece;
    if (start_.size() >= 2) decide();
  }

  Located finish(const std::string& place) {
    if (!decided_) decide();
    if (found_.literal && !literal_.closed()) fail("{}: a bytes literal has no end", place);
    if (!utf8_.whole()) fail("{}: a bytes literal holds no UTF-8", place);
    if (found_.bytes == 0) fail("{}: a text is empty", place);
    return found_;
  }

  void starts_at(uint64_t offset) { found_.place.offset = offset; }

 private:
  void decide() {
    decided_ = true;
    found_.literal = is_bytes_literal(start_);
    count(start_);
  }

  void count(std::string_view piece) {
    if (!found_.literal) {
      found_.bytes += piece.size();
      return;
    }
    std::string decoded;
    literal_.take(piece, decoded);
    utf8_.take(decoded.data(), decoded.size());
    found_.bytes += decoded.size();
  }

  bool decided_;
  std::string start_;
  BytesLiteral literal_;
  Utf8Check utf8_;
  Located found_;
};

Located locate(TsvReader& reader, bool literals) {
  Look look(literals);
  look.starts_at(reader.offset());
  reader.field("text", [&](std::string_view piece) { look.take(piece); });
  return look.finish(reader.place());
}

std::string read_located(const TextFile& file, const Located& text, int64_t length) {
  const auto most = static_cast<uint64_t>(length);
  if (!text.literal) return file.read(text.place, most);
  constexpr uint64_t kLongestEscape = 4;
  std::string decoded;
  BytesLiteral().take(file.read(text.place, kLongestEscape * most + 3), decoded);
  return decoded;
}

// `sides` texts a line, one after the other.
struct Lines {
  explicit Lines(const std::string& path) : file(path) {}
  TextFile file;
  std::vector<Located> texts;
};

SequenceSet set_of(const std::shared_ptr<Lines>& lines, int sides, int64_t length) {
  SequenceSet set;
  set.sides = sides;
  for (const Located& text : lines->texts) set.cut += text.bytes > static_cast<uint64_t>(length);
  set.load = [lines, sides, length](int64_t index, int side) {
    return byte_tokens(read_located(lines->file, lines->texts[index * sides + side], length),
                       length);
  };
  set.describe = [lines](int64_t index) {
    return fmt::format("{}:{}", lines->file.path(), index + 1);
  };
  return set;
}

int pair_label(const TsvReader& reader, const std::string& text) {
  if (text == "0" || text == "0.0") return 0;
  if (text == "1" || text == "1.0") return 1;
  fail("{}: label '{}' is neither 0 nor 1", reader.place(), printable(text));
}

constexpr size_t kMostClasses = 10'000;

std::string class_label(TsvReader& reader) {
  std::string label = reader.short_field("label");
  if (label.empty()) fail("{}: the label is empty", reader.place());
  return label;
}

}  // namespace

SequenceSet open_text_lines(const std::string& file, int64_t length) {
  auto lines = std::make_shared<Lines>(file);
  TsvReader reader(file);
  std::vector<std::string> labels;
  std::map<std::string, int> classes;
  while (reader.next_line()) {
    labels.push_back(class_label(reader));
    lines->texts.push_back(locate(reader, false));
    reader.end_line();
    classes[labels.back()] = 0;
    if (classes.size() > kMostClasses) {
      fail("{}: more than {} different labels; lines are LABEL<tab>TEXT", reader.place(),
           kMostClasses);
    }
  }
  if (labels.empty()) fail("'{}' is empty", file);
  SequenceSet set = set_of(lines, 1, length);
  for (const auto& [name, ignored] : classes) set.classes.push_back(name);
  std::sort(set.classes.begin(), set.classes.end(), natural_less);
  for (size_t i = 0; i < set.classes.size(); ++i) classes[set.classes[i]] = static_cast<int>(i);
  for (const std::string& label : labels) set.labels.push_back(classes[label]);
  return set;
}

SequenceSet open_pairs(const std::string& file, int64_t length) {
  auto lines = std::make_shared<Lines>(file);
  TsvReader reader(file);
  std::vector<int> labels;
  while (reader.next_line()) {
    labels.push_back(pair_label(reader, reader.short_field("label")));
    for (const char* name : {"first id", "second id"}) reader.short_field(name);
    for (int side = 0; side < 2; ++side) lines->texts.push_back(locate(reader, true));
    reader.end_line();
  }
  if (labels.empty()) fail("'{}' is empty", file);
  SequenceSet set = set_of(lines, 2, length);
  set.classes = {"unrelated", "cites"};
  set.labels = std::move(labels);
  set.divided = true;
  return set;
}

}  // namespace soft
