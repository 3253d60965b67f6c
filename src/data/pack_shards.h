// Makes shards: tar archives of labelled pictures, each a random mix of the set.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.h"

namespace soft {

struct PackedShards {
  int64_t shards = 0;
  int64_t pictures = 0;
  int64_t bytes = 0;
};

// FOLDER/train-000000.tar … and, unless `val` is empty, FOLDER/val-000000.tar …, each at most
// `size` bytes (but at least one picture), with classes.txt and the index that `tar:` reads. Files
// are copied as they are; pictures without one become PNGs. All appears when it is complete. A
// folder that has shards is an Error; a picture that cannot be read is named and left out.
PackedShards pack_shards(const Dataset& train, const Dataset& val, const std::string& folder,
                         int64_t size);

}  // namespace soft
