// The folder of a run: what is in it, and what may be done with it.
#pragma once

#include <string>
#include <vector>

namespace soft {

// What a run leaves behind, by name, as far as it is there: weights, log, recipe and states.
std::vector<std::string> run_files(const std::string& folder);

constexpr const char* kTrainCommand = "soft train";  // what makes runs, for errors
constexpr const char* kSequenceCommand = "soft lra train";

// Fails when the folder holds a run, or the rest of one: a new run would overwrite it.
void check_unused(const std::string& folder, const char* command = kTrainCommand);

// Fails, naming what is there, when a run without a readable state has anything to lose.
void check_nothing_to_lose(const std::string& folder, const char* command = kTrainCommand);

// Moves what is there into a new folder inside it, `before-1` or the next that is free, and
// returns its path; "" when there was nothing.
std::string set_aside(const std::string& folder);

}  // namespace soft
