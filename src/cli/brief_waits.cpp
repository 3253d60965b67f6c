#include "cli/brief_waits.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace soft {
namespace {

constexpr const char* kRounds = "GOMP_SPINCOUNT";  // 300,000 unless set

bool computes_for_long(std::string_view command) {
  constexpr std::array<std::string_view, 6> kLong{"train", "lra",    "eval",
                                                  "bench", "health", "quantize"};
  return std::find(kLong.begin(), kLong.end(), command) != kLong.end();
}

}  // namespace

void wait_briefly(int argc, char** argv) {
  if (argc < 2 || !computes_for_long(argv[1])) return;
  if (std::getenv(kRounds) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv(kRounds, "3000", 1);
  execv("/proc/self/exe", argv);  // comes back only where there is no /proc: then as it was
}

}  // namespace soft
