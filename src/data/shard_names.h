// Which shards a name means, and which of them validate.
//   DIR                            train-*.tar train, val-*.tar validate
//   DIR/train-{000000..001023}.tar these train; DIR/val-*.tar validate
//   DIR/{train,val}-{00..15}.tar   lists and ranges as the shell has them; * and ? in file names
#pragma once

#include <string>
#include <vector>

namespace soft {

struct ShardPaths {
  std::vector<std::string> train;
  std::vector<std::string> val;  // those with a word "val", "valid" or "validation" in their names
};

// A shard that is named and missing is an Error. Found files come in natural order.
ShardPaths find_shards(const std::string& names);

// "a{1,2{x,y}}" -> a1, a2x, a2y; "{08..10}" -> 08, 09, 10.
std::vector<std::string> expand_braces(const std::string& text);

}  // namespace soft
