// Which model, from which weights, with which changes: flags that mean the same in every command
// that builds or runs a model.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "weights/weights.h"

namespace soft {

struct ModelOptions {
  std::string model;                  // a row of the table
  std::string weights;                // a .safetensors or .pth file
  std::string weights_key;            // .pth: which dictionary
  std::string attention;              // changes: the mechanism first,
  std::vector<std::string> settings;  // then key=value, in the order given
};

void add_model_flag(CLI::App* command, ModelOptions& options);        // --model
void add_weights_flag(CLI::App* command, ModelOptions& options);      // --weights, or the box
void add_weights_key_flag(CLI::App* command, ModelOptions& options);  // --weights-key
void add_change_flags(CLI::App* command, ModelOptions& options);      // --attention, --set
void add_setting_flag(CLI::App* command, ModelOptions& options);      // --set

struct ChosenModel {
  std::optional<Weights> weights;  // none: a row of the table, without weights
  Card card;                       // describes the weights exactly, before any change
};

// Reads the weights file where one is given (--model then tells what shapes cannot show), otherwise
// looks the model up.
ChosenModel choose_model(const ModelOptions& options);

// The spec with --attention and then every --set applied; refused when it cannot be built.
ModelSpec with_changes(ModelSpec spec, const ModelOptions& options);

}  // namespace soft
