// The commands below `soft lra`.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace soft {

void add_lra_train(CLI::App& lra);
void add_lra_eval(CLI::App& lra);
void add_lra_table(CLI::App& lra);

}  // namespace soft
