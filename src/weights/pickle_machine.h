// The stack machine inside read_pickle. Values are made in one arena and referred to by address.
#pragma once

#include <utility>

#include "weights/pickle.h"

namespace soft {

class PickleMachine {
 public:
  using Kind = PickleValue::Kind;
  using Items = std::vector<const PickleValue*>;

  explicit PickleMachine(Bytes bytes) : input_(bytes, "the pickle") {}

  // Input
  template <class Number>
  Number read() {
    return input_.read<Number>();
  }
  template <class Length>
  std::string_view read_text() {
    return input_.take(input_.read<Length>()).text();
  }
  void skip(uint64_t bytes) { input_.take(bytes); }

  // Stack
  PickleValue& push(Kind kind);
  void push(PickleValue* value);
  void push_integer(int64_t value) { push(Kind::kInteger).integer = value; }
  void push_long(std::string_view digits);  // two's complement, little-endian
  void push_text(std::string_view text) { push(Kind::kText).text = text; }
  void push_sequence(Items items) { push(Kind::kSequence).items = std::move(items); }
  PickleValue* top() const;
  Items pop(size_t count);
  void mark();
  Items pop_to_mark();

  // Memo
  void remember(uint64_t index);
  void remember_next() { remember(memo_.size()); }
  void recall(uint64_t index);

  // Containers and objects
  void extend(Kind container, const Items& items);  // the container is on top
  void push_global(std::string_view module, std::string_view name);
  void read_global();   // names stand in the stream
  void stack_global();  // names stand on the stack
  void call(size_t arguments);
  void reference();

  // End
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  Pickle result();

 private:
  size_t available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  Cursor input_;
  Pickle pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::vector<PickleValue*> memo_;
  bool stopped_ = false;
};

}  // namespace soft
