// The one error type. Thrown with what is wrong, which value, and what to do about it; caught only
// in main (exit code) and in the HTTP handler (status code).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace soft {

enum class Fault {
  kWorld,  // a file, a picture or the machine is not as it should be: exit 1
  kUsage,  // the request itself is wrong (an unknown name, an impossible setting): exit 2
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::kWorld, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::kUsage, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace soft
