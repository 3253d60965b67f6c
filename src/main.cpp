// Exit codes live here: 0 fine, 1 the world is wrong, 2 usage.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "cli/brief_waits.h"
#include "cli/cli.h"

namespace {

int complain(const std::string& message, int code = 1) {
  soft::log_line(message);
  return code;
}

// Results that did not reach their reader (a full disk, a closed pipe) are a failure.
std::string lost_results(const std::string& reason) { return "cannot write to stdout: " + reason; }

}  // namespace

int main(int argc, char** argv) {
  soft::wait_briefly(argc, argv);
  try {
    const int code = soft::run_command_line(argc, argv);
    if (std::fflush(stdout) != 0) return complain(lost_results(std::strerror(errno)));
    // What was flushed before the end left no errno, but its mark.
    return std::ferror(stdout) == 0 ? code : complain(lost_results("it took only a part"));
  } catch (const soft::Error& error) {
    return complain(error.what(), error.fault() == soft::Fault::kUsage ? 2 : 1);
  } catch (const std::bad_alloc&) {
    return complain("out of memory; use a smaller batch, image or model");
  } catch (const std::filesystem::filesystem_error& error) {
    // A path that the system itself refuses: too long, a circle of links, a folder without entry.
    return complain("'" + error.path1().string() + "': " + error.code().message());
  } catch (const std::system_error& error) {
    // fmt throws one as soon as there is more than stdout's buffer holds.
    if (std::ferror(stdout) != 0) return complain(lost_results(error.code().message()));
    return complain(std::string("unexpected failure: ") + error.what());
  } catch (const std::exception& error) {
    return complain(std::string("unexpected failure: ") + error.what());
  }
}
