// Settings of the zoo's models: their family's own numbers, picture size and classes.
#pragma once

#include "spec/model_spec.h"

namespace soft {

bool is_in_zoo(const std::string& name);
void set_zoo_number(ModelSpec& spec, std::string_view key, std::string_view value);
std::vector<FieldHelp> zoo_field_help(const ModelSpec& spec);
Json zoo_numbers(const ModelSpec& spec);  // every key with its value, as text
ModelSpec zoo_spec_from_json(const Json& json, const std::string& what);

}  // namespace soft
