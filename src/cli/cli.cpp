#include "cli/cli.h"

#include <cstdio>
#include <iostream>

namespace soft {

int run_command_line(int argc, const char* const* argv) {
  CLI::App app{"soft: softmax-free vision transformers with linear complexity"};
  app.set_version_flag("--version", "soft " SOFT_VERSION);
  app.require_subcommand(1);
  add_models(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace soft
