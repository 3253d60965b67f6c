// Runs a fuzz target without libFuzzer: stored inputs (seeds and former findings) as they are, then
// many with random changes, the same ones every time. Usage: replay_TARGET CHANGED FOLDER the
// stored inputs, then CHANGED changed ones, each told on stderr
//        replay_TARGET CHANGED FOLDER OUT      the last of them goes to OUT instead: what was told
//        before a fault
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/fuzz.h"

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> stored_inputs(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    inputs.emplace_back(text.begin(), text.end());
    std::fprintf(stderr, "stored %zu: %s\n", inputs.size(), path.c_str());
  }
  return inputs;
}

class Changes {
 public:
  explicit Changes(const std::vector<Bytes>& stored) : stored_(stored) {}

  Bytes next() {
    Bytes bytes = stored_[below(stored_.size())];
    for (size_t times = 1 + below(4); times > 0; --times) change(bytes);
    bytes.shrink_to_fit();  // so that the sanitizers see a step beyond its end
    return bytes;
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }

  void change(Bytes& bytes) {
    if (bytes.empty()) bytes.push_back(0);
    const size_t at = below(bytes.size()),
                 count = 1 + below(std::min<size_t>(bytes.size() - at, 64));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at),
               end = begin + static_cast<std::ptrdiff_t>(count);
    switch (below(7)) {
      case 0:
        *begin ^= static_cast<uint8_t>(1 << below(8));
        break;
      case 1:
        *begin = static_cast<uint8_t>(random_());
        break;
      case 2:
        overwrite(bytes, at);
        break;
      case 3:
        bytes.erase(begin, end);
        break;
      case 4:
        repeat(bytes, at, count);
        break;
      case 5:
        bytes.resize(at);
        break;
      default:
        splice(bytes, at);
    }
  }

  static void repeat(Bytes& bytes, size_t at, size_t count) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const Bytes again(begin, begin + static_cast<std::ptrdiff_t>(count));
    bytes.insert(begin, again.begin(), again.end());
  }

  // A number that sizes and counts stumble over, in 1, 2, 4 or 8 bytes of either order.
  void overwrite(Bytes& bytes, size_t at) {
    constexpr uint64_t kNumbers[] = {0,
                                     1,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     uint64_t{1} << 32,
                                     uint64_t{1} << 40,
                                     ~uint64_t{0} >> 1,
                                     ~uint64_t{0}};
    const uint64_t number = kNumbers[below(std::size(kNumbers))];
    uint8_t raw[8];
    std::memcpy(raw, &number, sizeof(raw));
    const size_t width = std::min<size_t>(size_t{1} << below(4), bytes.size() - at);
    if (below(2) == 1) std::reverse(raw, raw + width);
    std::memcpy(bytes.data() + at, raw, width);
  }

  // Goes on as another input does from somewhere.
  void splice(Bytes& bytes, size_t at) {
    const Bytes& other = stored_[below(stored_.size())];
    if (other.empty()) return;
    bytes.resize(at);
    bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())),
                 other.end());
  }

  const std::vector<Bytes>& stored_;
  std::mt19937_64 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string out;
  if (words.size() > 2 && words[0] == "--write") {
    out = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2) return 2;
  const int changed = std::stoi(words[0]);
  const std::vector<Bytes> stored = stored_inputs({words.begin() + 1, words.end()});
  if (stored.empty()) return 1;
  Changes changes(stored);
  if (!out.empty()) {
    Bytes last;
    for (int i = 0; i < changed; ++i) last = changes.next();
    std::ofstream(out, std::ios::binary)
        .write(reinterpret_cast<const char*>(last.data()),
               static_cast<std::streamsize>(last.size()));
    return 0;
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    std::fprintf(stderr, "stored %zu\n", i + 1);
    LLVMFuzzerTestOneInput(stored[i].data(), stored[i].size());
  }
  for (int i = 1; i <= changed; ++i) {
    const Bytes bytes = changes.next();
    std::fprintf(stderr, "changed %d\n", i);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs as stored, %d changed\n", stored.size(), changed);
  return 0;
}
