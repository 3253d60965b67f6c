// The opcodes of pickle protocols 2 to 4, as torch.save emits them. Those that only older protocols
// use are refused.
#include "weights/pickle.h"

#include <array>

#include "base/error.h"
#include "weights/pickle_machine.h"

namespace soft {
namespace {

using Kind = PickleValue::Kind;
using Machine = PickleMachine;
using Action = void (*)(Machine&);

struct Opcode {
  uint8_t code;
  Action run;
};

constexpr Opcode kOpcodes[] = {
    // Frame of the stream
    {0x80, [](Machine& m) { m.skip(1); }},  // PROTO
    {0x95, [](Machine& m) { m.skip(8); }},  // FRAME
    {'.', [](Machine& m) { m.stop(); }},
    // Constants
    {'N', [](Machine& m) { m.push(Kind::kOther); }},  // None
    {0x88, [](Machine& m) { m.push_integer(1); }},    // True
    {0x89, [](Machine& m) { m.push_integer(0); }},    // False
    {'J', [](Machine& m) { m.push_integer(m.read<int32_t>()); }},
    {'K', [](Machine& m) { m.push_integer(m.read<uint8_t>()); }},
    {'M', [](Machine& m) { m.push_integer(m.read<uint16_t>()); }},
    {0x8a, [](Machine& m) { m.push_long(m.read_text<uint8_t>()); }},
    {0x8b, [](Machine& m) { m.push_long(m.read_text<uint32_t>()); }},
    {'G', [](Machine& m) { m.skip(8), m.push(Kind::kOther); }},  // a float
    // Text and bytes
    {'X', [](Machine& m) { m.push_text(m.read_text<uint32_t>()); }},
    {0x8c, [](Machine& m) { m.push_text(m.read_text<uint8_t>()); }},
    {0x8d, [](Machine& m) { m.push_text(m.read_text<uint64_t>()); }},
    {'T', [](Machine& m) { m.push_text(m.read_text<uint32_t>()); }},
    {'U', [](Machine& m) { m.push_text(m.read_text<uint8_t>()); }},
    {'B', [](Machine& m) { m.push_text(m.read_text<uint32_t>()); }},
    {'C', [](Machine& m) { m.push_text(m.read_text<uint8_t>()); }},
    {0x8e, [](Machine& m) { m.push_text(m.read_text<uint64_t>()); }},
    // Stack
    {'(', [](Machine& m) { m.mark(); }},
    {'0', [](Machine& m) { m.pop(1); }},
    {'1', [](Machine& m) { m.pop_to_mark(); }},
    {'2', [](Machine& m) { m.push(m.top()); }},
    // Containers
    {')', [](Machine& m) { m.push_sequence({}); }},
    {'t', [](Machine& m) { m.push_sequence(m.pop_to_mark()); }},
    {0x85, [](Machine& m) { m.push_sequence(m.pop(1)); }},
    {0x86, [](Machine& m) { m.push_sequence(m.pop(2)); }},
    {0x87, [](Machine& m) { m.push_sequence(m.pop(3)); }},
    {']', [](Machine& m) { m.push_sequence({}); }},
    {0x8f, [](Machine& m) { m.push_sequence({}); }},               // set
    {0x91, [](Machine& m) { m.push_sequence(m.pop_to_mark()); }},  // frozenset
    {'a', [](Machine& m) { m.extend(Kind::kSequence, m.pop(1)); }},
    {'e', [](Machine& m) { m.extend(Kind::kSequence, m.pop_to_mark()); }},
    {0x90, [](Machine& m) { m.extend(Kind::kSequence, m.pop_to_mark()); }},  // into a set
    {'}', [](Machine& m) { m.push(Kind::kDict); }},
    {'s', [](Machine& m) { m.extend(Kind::kDict, m.pop(2)); }},
    {'u', [](Machine& m) { m.extend(Kind::kDict, m.pop_to_mark()); }},
    // Memo
    {'q', [](Machine& m) { m.remember(m.read<uint8_t>()); }},
    {'r', [](Machine& m) { m.remember(m.read<uint32_t>()); }},
    {0x94, [](Machine& m) { m.remember_next(); }},
    {'h', [](Machine& m) { m.recall(m.read<uint8_t>()); }},
    {'j', [](Machine& m) { m.recall(m.read<uint32_t>()); }},
    // Objects: recorded, never made
    {'c', [](Machine& m) { m.read_global(); }},
    {0x93, [](Machine& m) { m.stack_global(); }},
    {'R', [](Machine& m) { m.call(1); }},   // global, arguments
    {0x81, [](Machine& m) { m.call(1); }},  // class, arguments
    {0x92, [](Machine& m) { m.call(2); }},  // class, arguments, keywords
    {'b', [](Machine& m) { m.pop(1); }},    // an object's state
    {'Q', [](Machine& m) { m.reference(); }},
};

using ActionTable = std::array<Action, 256>;

constexpr ActionTable make_table() {
  ActionTable table{};
  for (const Opcode& opcode : kOpcodes) table[opcode.code] = opcode.run;
  return table;
}
constexpr ActionTable kActions = make_table();

constexpr size_t kMaxBytes = size_t{32} << 20;  // published checkpoints have well under 1 MB

}  // namespace

Pickle read_pickle(Bytes bytes) {
  if (bytes.size > kMaxBytes) fail("a pickle of {} bytes; at most {}", bytes.size, kMaxBytes);
  Machine machine(bytes);
  while (!machine.stopped()) {
    const auto code = machine.read<uint8_t>();
    if (kActions[code] == nullptr) {
      fail("the pickle has opcode 0x{:02x}, which torch.save does not emit", code);
    }
    kActions[code](machine);
  }
  return machine.result();
}

}  // namespace soft
