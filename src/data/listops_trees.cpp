// Draws ListOps trees and writes them to files.
#include <functional>
#include <ostream>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "data/listops.h"

namespace soft {
namespace {

constexpr int kDeepest = 10;
constexpr size_t kLengthAbove = 500, kLengthBelow = 2000;
constexpr double kOperator = 0.25;

uint64_t fingerprint(const std::vector<uint8_t>& tokens) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (uint8_t token : tokens) hash = (hash ^ token) * 0x100000001b3u;
  return hash;
}

int value_of(const std::vector<uint8_t>& tokens) {
  ListOpsMachine machine;
  for (uint8_t token : tokens) machine.push(token);
  return machine.value();
}

}  // namespace

bool ListOpsTrees::grow(int depth) {
  std::vector<uint8_t>& tokens = tree_.tokens;
  if (depth == kDeepest || random_.uniform() > kOperator) {
    tokens.push_back(static_cast<uint8_t>(kListOpsDigit + random_.below(10)));
    return tokens.size() < kLengthBelow;
  }
  tokens.push_back(static_cast<uint8_t>(kListOpsMin + random_.below(4)));
  for (int64_t left = 2 + random_.below(9); left > 0; --left) {
    if (!grow(depth + 1)) return false;
  }
  tokens.push_back(kListOpsEnd);
  return tokens.size() < kLengthBelow;
}

// Two trees with one fingerprint: most likely the same, and if not, the next one does as well.
const ListOpsTree& ListOpsTrees::next() {
  do {
    tree_.tokens.clear();
  } while (!grow(1) || tree_.tokens.size() <= kLengthAbove ||
           !seen_.insert(fingerprint(tree_.tokens)).second);
  tree_.value = value_of(tree_.tokens);
  return tree_;
}

void write_listops(const ListOpsFiles& files) {
  if (files.train < 1 || files.dev < 1 || files.test < 1) {
    fail_usage("{}, {} and {} expressions for train, val and test; each needs at least 1",
               files.train, files.dev, files.test);
  }
  make_folder(files.folder);
  ListOpsTrees trees(files.seed);
  const auto write = [&trees](int64_t count) {
    return [&trees, count](std::ostream& out) {
      out << "Source\tTarget\n";
      for (int64_t i = 0; i < count; ++i) {
        const ListOpsTree& tree = trees.next();
        out << listops_text(tree.tokens) << '\t' << tree.value << '\n';
      }
    };
  };
  write_atomically({{files.folder + "/basic_train.tsv", write(files.train)},
                    {files.folder + "/basic_val.tsv", write(files.dev)},
                    {files.folder + "/basic_test.tsv", write(files.test)}});
}

}  // namespace soft
