// The one exception of the library: one line that says what is wrong, which value, and what to do.
#pragma once

#include <stdexcept>
#include <string>

#define SOFT_API __attribute__((visibility("default")))

namespace soft {

enum class Fault {
  kWorld,  // a file, a picture or the machine is not as it should be: exit 1
  kUsage,  // the request itself is wrong (an unknown name, an impossible setting): exit 2
};

class SOFT_API Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace soft
