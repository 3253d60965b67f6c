// Prints how far native and torch logits lie apart, for each model named: as a share of the largest
// logit, the worst over sizes and batches. Exits 1 when any is above 1e-4.
#include <fmt/core.h>

#include "parity/parity.h"

namespace soft {
namespace {

constexpr double kTolerance = 1e-4;

double worst_of(const std::string& name) {
  const ModelSpec spec = find_model(name);
  test::Pair pair(spec);
  const bool small = spec.image_size < 64;
  const std::vector<Grid> sizes = small ? std::vector<Grid>{{32, 32}, {40, 48}}
                                        : std::vector<Grid>{{64, 64}, {224, 224}, {256, 320}};
  double worst = 0;
  for (Grid size : sizes) {
    for (int64_t count : {1, 5}) {
      const double error = pair.error(size, count);
      fmt::print("{:<18} {:>3}x{:<3} batch {}  {:.1e}\n", name, size.h, size.w, count, error);
      worst = error < worst ? worst : error;  // a NaN stays
    }
  }
  return worst;
}

}  // namespace
}  // namespace soft

int main(int argc, char** argv) {
  bool fine = argc > 1;
  try {
    for (int i = 1; i < argc; ++i) fine = soft::worst_of(argv[i]) < soft::kTolerance && fine;
  } catch (const std::exception& error) {
    fmt::print(stderr, "check_parity: {}\n", error.what());
    return 1;
  }
  return fine ? 0 : 1;
}
