// What the tests of sequences share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/sequence_source.h"
#include "support/support.h"

namespace soft::test {

inline std::string text_of(const std::vector<int32_t>& tokens) {
  std::string text;
  for (int32_t token : tokens) text += static_cast<char>(token - 1);
  return text;
}

inline void write_text(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write_file(path, text);
}

inline SequenceSet open_all(const std::string& spec, SequencePart part = SequencePart::kTrain,
                            int64_t length = 4000) {
  SequenceRequest request;
  request.spec = spec;
  request.part = part;
  request.length = length;
  return open_sequences(request);
}

}  // namespace soft::test
