#include "data/listops.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include "base/error.h"
#include "base/printable.h"

namespace soft {
namespace {

constexpr std::array<std::string_view, 5> kWords{"[MIN", "[MAX", "[MED", "[SM", "]"};
constexpr size_t kDeepest = 1000;  // lists in lists; the generator makes ten

std::string_view word_of(uint8_t token) {
  static constexpr std::string_view kDigits = "0123456789";
  return token < kListOpsMin ? kDigits.substr(token - kListOpsDigit, 1)
                             : kWords[token - kListOpsMin];
}

}  // namespace

uint8_t listops_token(std::string_view word) {
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '9') {
    return static_cast<uint8_t>(kListOpsDigit + (word[0] - '0'));
  }
  if (word == "(" || word == ")") return 0;
  if (word == "X") return kListOpsEnd;  // what some loaders make of the bracket
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) {
    fail("'{}' is no token of ListOps; it has 0 … 9, {}, ( and )", printable(word),
         fmt::join(kWords, " "));
  }
  return static_cast<uint8_t>(kListOpsMin + (found - kWords.begin()));
}

void ListOpsMachine::clear() {
  open_.clear();
  done_ = false;
}

// The median by counting: arguments are digits.
int ListOpsMachine::value_of(const List& list) {
  const auto ranked = [&list](int rank) {
    int digit = 0;
    for (int below = list.of_digit[0]; below <= rank; below += list.of_digit[++digit]) {
    }
    return digit;
  };
  switch (list.operation) {
    case kListOpsMin:
      return ranked(0);
    case kListOpsMax:
      return ranked(list.count - 1);
    case kListOpsMedian:
      return (ranked((list.count - 1) / 2) + ranked(list.count / 2)) / 2;
    default:
      return list.sum;
  }
}

void ListOpsMachine::give(int digit) {
  if (open_.empty()) {
    value_ = digit;
    done_ = true;
    return;
  }
  List& list = open_.back();
  ++list.count;
  ++list.of_digit[digit];
  list.sum = (list.sum + digit) % 10;
}

void ListOpsMachine::push(uint8_t token) {
  if (done_) fail("'{}' comes after the end of the expression", word_of(token));
  if (token < kListOpsMin) return give(token - kListOpsDigit);
  if (token < kListOpsEnd) {
    if (open_.size() == kDeepest) fail("more than {} lists are nested", kDeepest);
    open_.push_back({token});
    return;
  }
  if (open_.empty()) fail("']' closes nothing");
  const List list = open_.back();
  if (list.count == 0) fail("'{} ]' has no arguments", word_of(list.operation));
  open_.pop_back();
  give(value_of(list));
}

int ListOpsMachine::value() const {
  if (!open_.empty()) fail("{} of its lists are not closed", open_.size());
  if (!done_) fail("the expression is empty");
  return value_;
}

std::vector<int32_t> listops_tokens(std::string_view text, int64_t most) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<int32_t> tokens;
  for (size_t at = text.find_first_not_of(kBlanks);
       at != text.npos && static_cast<int64_t>(tokens.size()) < most;
       at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    if (const uint8_t token = listops_token(text.substr(at, end - at))) tokens.push_back(token);
    at = end;
  }
  return tokens;
}

int listops_value(std::string_view text) {
  ListOpsMachine machine;
  for (const int32_t token : listops_tokens(text, std::numeric_limits<int64_t>::max())) {
    machine.push(static_cast<uint8_t>(token));
  }
  return machine.value();
}

// Brackets pair an operator with its first argument, that pair with the next, … and the last one
// with "]": as many opening ones as there are arguments, and one more.
std::string listops_text(const std::vector<uint8_t>& tokens) {
  std::vector<int> arguments(tokens.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == kListOpsEnd) {
      open.pop_back();
      continue;
    }
    if (!open.empty()) ++arguments[open.back()];
    if (tokens[i] >= kListOpsMin) open.push_back(i);
  }
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool starts = tokens[i] >= kListOpsMin && tokens[i] < kListOpsEnd;
    if (starts) {
      for (int k = 0; k <= arguments[i]; ++k) text += "( ";
      open.push_back(i);
    }
    text += word_of(tokens[i]);
    if (tokens[i] == kListOpsEnd) {
      text += " )";
      open.pop_back();
    }
    if (!starts && !open.empty()) text += " )";
    if (i + 1 < tokens.size()) text += ' ';
  }
  return text;
}

}  // namespace soft
