// ListOps: nested lists of digits under MIN, MAX, MED (integer part of the median) and SM (sum
// modulo ten), whose value is a digit. The long-range form keeps trees of 501 to 1,999 tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/random.h"

namespace soft {

// Tokens: 0 is padding, digit d is d + 1, then the operators and the closing bracket.
enum ListOpsToken : uint8_t {
  kListOpsDigit = 1,
  kListOpsMin = 11,
  kListOpsMax,
  kListOpsMedian,
  kListOpsSum,
  kListOpsEnd
};

// The token of a word; 0 for parentheses, which say nothing, and an Error for anything else.
uint8_t listops_token(std::string_view word);

// The tokens of any mixture of the public text forms, at most so many of them.
std::vector<int32_t> listops_tokens(std::string_view text, int64_t most);

// Evaluates one expression as its tokens come, in constant memory a level.
class ListOpsMachine {
 public:
  void push(uint8_t token);  // Error where the token cannot stand
  bool started() const { return done_ || !open_.empty(); }
  int value() const;  // Error while a list is open
  void clear();

 private:
  struct List {
    uint8_t operation = 0;
    int count = 0, sum = 0;
    std::array<int, 10> of_digit{};
  };
  static int value_of(const List& list);
  void give(int digit);

  std::vector<List> open_;
  bool done_ = false;
  int value_ = 0;
};

int listops_value(std::string_view text);  // any mixture of the public text forms

struct ListOpsTree {
  std::vector<uint8_t> tokens;
  int value = 0;
};

// The public text form, binary brackets around every argument: "( ( ( [MIN 4 ) 3 ) ] )".
std::string listops_text(const std::vector<uint8_t>& tokens);

// Trees of the public generator's distribution, no two alike: at depth 1 to 9 a digit with
// probability 3/4, otherwise an operator with 2 to 10 arguments; at depth 10 a digit.
class ListOpsTrees {
 public:
  explicit ListOpsTrees(uint64_t seed) : random_(seed) {}
  const ListOpsTree& next();  // good until the following call

 private:
  bool grow(int depth);  // false once the tree is too long

  Random random_;
  ListOpsTree tree_;
  std::unordered_set<uint64_t> seen_;
};

struct ListOpsFiles {
  std::string folder;
  uint64_t seed = 0;
  int64_t train = 96'000, dev = 2'000, test = 2'000;
};

// Writes basic_train.tsv, basic_val.tsv and basic_test.tsv, each whole or not at all.
void write_listops(const ListOpsFiles& files);

}  // namespace soft
