// The models in the box: trained weights that come with the program, used where --weights is left
// out. A file put into models/ under the name that a row of the registry gives it is all it takes.
#pragma once

#include <string>
#include <vector>

namespace soft {

struct BoxedModel {
  std::string name;   // for --box
  std::string file;   // in the folder $SOFT_MODELS; unset, in PREFIX/share/soft or in models/
  std::string about;  // what it answers, in a few words
};

const std::vector<BoxedModel>& boxed_models();  // the first is taken where none is named

// Those whose files are there.
std::vector<BoxedModel> present_boxed_models();

// The path of a box's weights, "" for the first one's; an Error names the boxes that there are when
// this is none of them, or says what to do when its file is missing.
std::string boxed_weights(const std::string& name = "");

}  // namespace soft
