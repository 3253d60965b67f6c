// The one error type. Thrown with what is wrong, which value, and what to do about it; caught only
// in main (exit code) and in the HTTP handler (status code).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "soft/error.h"

namespace soft {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::kWorld, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Fault::kUsage, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace soft
