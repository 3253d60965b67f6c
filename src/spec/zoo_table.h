// Models that are not SOFT's: a family (describe/zoo/zoo.h) and the numbers it is built from.
#pragma once

#include <string>
#include <vector>

namespace soft {

struct Numbers {
  std::string key;
  std::vector<int> values;
};

struct ZooRow {
  std::string name;
  std::string family;
  std::vector<Numbers> numbers;
};

const std::vector<ZooRow>& zoo_table();

}  // namespace soft
