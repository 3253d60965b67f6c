// Exit codes live here: 0 fine, 1 the world is wrong, 2 usage.
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  try {
    return soft::run_command_line(argc, argv);
  } catch (const soft::Error& error) {
    std::fprintf(stderr, "soft: %s\n", error.what());
    return error.fault() == soft::Fault::kUsage ? 2 : 1;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "soft: out of memory; use a smaller batch, image or model\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soft: unexpected failure: %s\n", error.what());
    return 1;
  }
}
