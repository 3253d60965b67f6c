// Rows of results, each a flat JSON object, as text: for people, and as CSV for other programs.
#pragma once

#include <string>

#include "base/json.h"

namespace soft {

// Aligned columns under their names; new names above every row whose keys differ from the last.
std::string table_of(const Json& rows);

// One header with every key that occurs; empty where a row does not have it.
std::string csv_of(const Json& rows);

}  // namespace soft
