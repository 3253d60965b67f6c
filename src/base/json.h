// JSON from strangers, read in linear time: duplicate keys, deep nesting, huge objects, a million
// values and trailing text are refused with a clear error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace soft {

using Json = nlohmann::ordered_json;

// `what` names the source in errors, e.g. "header of 'x.safetensors'".
Json parse_json(std::string_view text, const std::string& what, int max_depth = 32);

}  // namespace soft
