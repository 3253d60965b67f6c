// Says what is in pictures.
//   classify WEIGHTS PICTURE…     (WEIGHTS may be "", the model in the box)
#include <soft/soft.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: classify WEIGHTS PICTURE...\n");
    return 2;
  }
  try {
    const soft::Model model = soft::Model::open(argv[1]);
    for (int i = 2; i < argc; ++i) {
      const soft::Guess best = model.classify(soft::Picture::read(argv[i])).front();
      std::printf("%s: %s (%.1f %%)\n", argv[i], best.name.c_str(), 100 * best.p);
    }
  } catch (const soft::Error& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
}
