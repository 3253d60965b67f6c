// Which model, from which weights, with which changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weights/weights.h"

namespace soft {

struct ModelOptions {
  std::string model;                  // a row of the table
  std::string weights;                // a .safetensors or .pth file
  std::string box;                    // without weights: which model in the box, "" for the first
  std::string weights_key;            // .pth: which dictionary
  std::string attention;              // changes: the mechanism first,
  std::vector<std::string> settings;  // then key=value, in the order given
};

struct ChosenModel {
  std::optional<Weights> weights;  // none: a row of the table, without weights
  Card card;                       // describes the weights exactly, before any change
};

// Reads the weights file where one is given (`model` then tells what shapes cannot show; of a bare
// file of a family that is no row of the table, `model` and the settings together), otherwise looks
// the model up.
ChosenModel choose_model(const ModelOptions& options);

// The spec with `attention` and then every setting applied; refused when it cannot be built.
ModelSpec with_changes(ModelSpec spec, const ModelOptions& options);

struct LoadedModel {
  Card card;        // of the weights, with the changes applied to its spec
  Weights weights;  // fit that spec
};

// From the weights file; where none is given, random weights for the model.
LoadedModel load_model(const ModelOptions& options, uint64_t seed = 0);

// Whether this can only mean a row of the table: a mistyped name should be answered as one, so a
// missing file must look like a file.
bool is_model_name(const std::string& subject);

}  // namespace soft
