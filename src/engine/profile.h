// Where the engine's time goes: wall-clock seconds per stage and phase, summed over images.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace soft {

enum class Phase { kEmbed, kEnter, kMix, kLeave, kHead };
constexpr size_t kPhases = 5;
constexpr size_t kMostStages = 4;

constexpr std::array<std::string_view, kPhases> kPhaseNames{
    "embed",  // convolutions that make the stage's tokens
    "enter",  // positions and the first projection
    "mix",    // attention and value path
    "leave",  // output projection, MLP, norms, the next layer's projection
    "head",   // final norm aside: pooling and classifier
};

struct Profile {
  std::array<std::array<double, kPhases>, kMostStages> seconds{};
  int64_t images = 0;

  double& at(size_t stage, Phase phase) { return seconds[stage][static_cast<size_t>(phase)]; }
  Profile& operator+=(const Profile& other) {
    for (size_t s = 0; s < kMostStages; ++s) {
      for (size_t p = 0; p < kPhases; ++p) seconds[s][p] += other.seconds[s][p];
    }
    images += other.images;
    return *this;
  }
};

// Adds its own lifetime to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& sum_;
  Clock::time_point start_;
};

}  // namespace soft
