#include "weights/pickle_machine.h"

#include "base/error.h"

namespace soft {
namespace {

// A published checkpoint has some ten thousand values, most of them numbers of optimizer states.
constexpr size_t kMaxValues = size_t{1} << 20;

void check_room(size_t used) {
  if (used >= kMaxValues) fail("the pickle holds more than {} values", kMaxValues);
}

}  // namespace

void PickleMachine::push(PickleValue* value) {
  check_room(stack_.size());
  stack_.push_back(value);
}

PickleValue& PickleMachine::push(Kind kind) {
  check_room(pickle_.values.size());
  PickleValue& value = pickle_.values.emplace_back();
  value.kind = kind;
  push(&value);
  return value;
}

void PickleMachine::push_long(std::string_view digits) {
  if (digits.size() > sizeof(int64_t)) {
    push(Kind::kOther);
    return;
  }
  const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
  int64_t value = negative ? -1 : 0;
  if (!digits.empty()) std::memcpy(&value, digits.data(), digits.size());
  push_integer(value);
}

PickleValue* PickleMachine::top() const {
  if (available() == 0) fail("the pickle takes more values than it made");
  return stack_.back();
}

PickleMachine::Items PickleMachine::pop(size_t count) {
  if (available() < count) fail("the pickle takes more values than it made");
  Items items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return items;
}

void PickleMachine::mark() {
  check_room(marks_.size());
  marks_.push_back(stack_.size());
}

PickleMachine::Items PickleMachine::pop_to_mark() {
  if (marks_.empty()) fail("the pickle closes a list it never opened");
  Items items = pop(available());
  marks_.pop_back();
  return items;
}

void PickleMachine::remember(uint64_t index) {
  check_room(index);
  if (index >= memo_.size()) memo_.resize(index + 1);
  memo_[index] = top();
}

void PickleMachine::recall(uint64_t index) {
  if (index >= memo_.size() || memo_[index] == nullptr) {
    fail("the pickle refers to value {}, which it never stored", index);
  }
  push(memo_[index]);
}

void PickleMachine::extend(Kind container, const Items& items) {
  PickleValue& target = *top();
  if (target.kind == Kind::kCall) return;  // the content of foreign objects is of no interest
  if (target.kind != container) fail("the pickle adds items to something that holds none");
  if (container == Kind::kDict && items.size() % 2 != 0) fail("the pickle has a key without value");
  target.items.insert(target.items.end(), items.begin(), items.end());
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  PickleValue& value = push(Kind::kGlobal);
  value.module = module;
  value.text = name;
}

void PickleMachine::read_global() {
  const std::string_view module = input_.line();
  const std::string_view name = input_.line();
  push_global(module, name);
}

void PickleMachine::stack_global() {
  const Items names = pop(2);
  push_global(names[0]->text, names[1]->text);
}

void PickleMachine::call(size_t arguments) {
  Items items = pop(1 + arguments);  // {global, arguments …}
  if (items[0]->is_global("collections", "OrderedDict")) {
    push(Kind::kDict);
  } else {
    push(Kind::kCall).items = std::move(items);
  }
}

void PickleMachine::reference() {
  Items items = pop(1);
  push(Kind::kReference).items = std::move(items);
}

Pickle PickleMachine::result() {
  if (!input_.at_end()) fail("the pickle goes on after its end");
  pickle_.root = top();
  return std::move(pickle_);
}

}  // namespace soft
