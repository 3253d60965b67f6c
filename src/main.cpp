// Exit codes live here: 0 fine, 1 the world is wrong, 2 usage.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/error.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  try {
    const int code = soft::run_command_line(argc, argv);
    // Results that did not reach their reader (a full disk, a closed pipe) are a failure.
    if (std::fflush(stdout) != 0) soft::fail("cannot write to stdout: {}", std::strerror(errno));
    return code;
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
