// The smallest program on the installed library: prints the parameters of a model.
//   count soft-tiny [key=value …]
#include <cstdio>

#include "base/error.h"
#include "spec/cost.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: count MODEL [key=value ...]\n");
    return 2;
  }
  try {
    soft::ModelSpec spec = soft::find_model(argv[1]);
    for (int i = 2; i < argc; ++i) soft::apply_setting(spec, argv[i]);
    soft::validate(spec);
    const soft::ModelCost cost = soft::cost_of(spec, {spec.image_size, spec.image_size});
    std::printf("%lld\n", static_cast<long long>(cost.params));
  } catch (const soft::Error& error) {
    std::fprintf(stderr, "count: %s\n", error.what());
    return 1;
  }
}
