#include "weights/sequence_card.h"

#include <fstream>

#include "base/error.h"

namespace soft {

// A safetensors file begins with the length of its JSON header, eight bytes, and the header.
bool is_sequence_file(const std::string& path) {
  constexpr size_t kMost = size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string start(kMost, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(file.gcount()));
  if (start.size() < 9 || start[8] != '{') return false;
  return start.find(fmt::format("\"{}\":", kSequenceKey)) != std::string::npos;
}

SequenceCard sequence_card(const Weights& weights) {
  const std::string what = fmt::format("'{}' in '{}'", kSequenceKey, weights.path);
  const auto found = weights.metadata.find(kSequenceKey);
  if (found == weights.metadata.end()) fail("no {}: this is no model of sequences", what);
  const Json json = parse_json(found->second, what);
  try {
    SequenceCard card;
    card.spec = sequence_spec_from_json(json.at("model"), what);
    card.classes = json.at("classes").get<std::vector<std::string>>();
    card.data = json.at("data");
    card.cut = count_at(json, "cut");
    card.task = json.at("task");
    if (static_cast<int>(card.classes.size()) != card.spec.frame.classes) {
      fail("{}: {} class names for {} classes", what, card.classes.size(), card.spec.frame.classes);
    }
    if (card.cut < 1 || card.cut > card.spec.length) {
      fail("{}: sequences are cut at {}, outside 1 … {}", what, card.cut, card.spec.length);
    }
    return card;
  } catch (const Json::exception& error) {
    fail("{}: {}", what, error.what());
  }
}

Json to_json(const SequenceCard& card) {
  return {{"model", to_json(card.spec)},
          {"classes", card.classes},
          {"data", card.data},
          {"cut", card.cut},
          {"task", card.task}};
}

}  // namespace soft
