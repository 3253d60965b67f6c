// Flags about the pictures that a model is given, the same in every command that takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "data/dataset.h"
#include "weights/weights.h"

namespace soft {

Split split_of(const std::string& name);  // "train" or "val"; otherwise a usage error

void add_strict_flag(CLI::App* command, bool& strict);  // --strict

// --size N, the side that pictures are given to the model at; 0 stands for the model's own.
void add_own_size_flag(CLI::App* command, int& size);
void check_own_size(const Card& card, int size);  // whether the model runs at it

}  // namespace soft
