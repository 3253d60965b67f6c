// JSON from strangers, read in linear time: duplicate keys, deep nesting, huge objects, a million
// values and trailing text are refused with a clear error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace soft {

using Json = nlohmann::ordered_json;

// `what` names the source in errors, e.g. "header of 'x.safetensors'".
Json parse_json(std::string_view text, const std::string& what, int max_depth = 32);

// The count under `key`: whole, from 0 to `most`, and not converted from anything else.
int64_t count_at(const Json& object, const char* key, int64_t most = INT64_MAX);

}  // namespace soft
