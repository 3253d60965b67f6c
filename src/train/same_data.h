// Whether the data of a resumed run are those that it began with.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/sequence.h"

namespace soft {

// What a run's file remembers of its data; nothing in files of older versions.
struct DataMark {
  std::vector<std::string> classes;
  std::string listing;  // digest of names and labels of all examples
};

// Over all parts; where the data's folder stands makes no difference.
DataMark mark_of(const Dataset& train, const Dataset& val);
DataMark mark_of(const SequenceSet& train, const SequenceSet& dev, const SequenceSet& test);

// Fails when they are others, by the name of the class. Examples that came or went are refused,
// too, naming what else can be done; where that is nothing, they are allowed.
void check_same_data(const std::string& data, const DataMark& stored, const DataMark& now,
                     const std::string& otherwise);

}  // namespace soft
