// What the processor offers, and what the libraries under us make of it.
#pragma once

#include <string>
#include <vector>

namespace soft {

struct Machine {
  std::string cpu;                        // as the kernel of the system names it
  std::vector<std::string> instructions;  // vector extensions, oldest first
  std::string highway_target;             // what our own kernels dispatch to: "AVX3", "NEON" …
  std::string onednn_version;             // "2.6.3"
  std::string onednn_target;              // the widest instruction set oneDNN will use
};

Machine describe_machine();

}  // namespace soft
