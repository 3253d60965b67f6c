// Flags that choose, change and run a model; they mean the same in every command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "facade/choice.h"

namespace soft {

void add_model_flag(CLI::App* command, ModelOptions& options);        // --model
void add_weights_flag(CLI::App* command, ModelOptions& options);      // --weights, or --box
void add_box_flag(CLI::App* command, ModelOptions& options);          // --box
void add_weights_key_flag(CLI::App* command, ModelOptions& options);  // --weights-key
void add_change_flags(CLI::App* command, ModelOptions& options);      // --attention, --set
void add_setting_flag(CLI::App* command, ModelOptions& options);      // --set

// --engine; refuses a name that is none.
void add_engine_flag(CLI::App* command, std::string& engine);

}  // namespace soft
