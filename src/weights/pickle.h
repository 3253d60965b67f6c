// A reader of Python pickles that executes nothing. It builds inert values: calling a class or
// function only records which one and with what; looking something up by name records the name.
//
// Safe against hostile files: no recursion anywhere (nesting costs no stack), numbers of values and
// bytes are capped, text stays in the file, and all values live in one arena, so that cycles
// neither leak nor loop.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "weights/bytes.h"

namespace soft {

struct PickleValue {
  enum class Kind {
    kOther,     // None, floats, huge integers, …: carried, never needed
    kInteger,   // and booleans
    kText,      // str and bytes
    kSequence,  // tuple, list, set
    kDict,      // dict and OrderedDict
    kGlobal,    // a class or function, by name
    kCall,      // what calling a global would have given: items are {global, arguments}
    kReference  // a persistent id (torch: a storage): items are {id}
  };

  Kind kind = Kind::kOther;
  int64_t integer = 0;
  std::string_view module;                // kGlobal
  std::string_view text;                  // kText, and the name of a kGlobal
  std::vector<const PickleValue*> items;  // kDict: key, value, key, value, …

  bool is_global(std::string_view wanted_module, std::string_view wanted_name) const {
    return kind == Kind::kGlobal && module == wanted_module && text == wanted_name;
  }
};

struct Pickle {
  std::deque<PickleValue> values;  // addresses stay valid while it grows
  const PickleValue* root = nullptr;
};

Pickle read_pickle(Bytes bytes);

}  // namespace soft
