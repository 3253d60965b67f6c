// The smallest program on the installed library: prints the parameters of a model.
//   count soft-tiny [key=value …]
#include <soft/soft.h>

#include <algorithm>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: count MODEL [key=value ...]\n");
    return 2;
  }
  try {
    soft::Settings settings;
    for (int i = 2; i < argc; ++i) {
      const std::string setting = argv[i];
      const size_t equals = std::min(setting.find('='), setting.size() - 1);
      settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    std::printf("%lld\n", static_cast<long long>(soft::cost(argv[1], settings).params));
  } catch (const soft::Error& error) {
    std::fprintf(stderr, "count: %s\n", error.what());
    return 1;
  }
}
