// From a photo's bytes to the evaluation crop, on one thread.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/file.h"
#include "image/codec.h"
#include "image/transform.h"

namespace soft {
namespace {

const MappedFile& photo() {
  static const MappedFile file(SOFT_SOURCE_DIR "/data/photos/rocket.jpg");  // 640 x 427
  return file;
}

Image decode() { return decode_image(photo().data(), photo().size(), photo().path()); }

void decode_photo(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(decode());
}
BENCHMARK(decode_photo)->Unit(benchmark::kMillisecond);

void crop_photo(benchmark::State& state) {
  const Image image = decode();
  for (auto _ : state) benchmark::DoNotOptimize(evaluation_crop(image, {}));
}
BENCHMARK(crop_photo)->Unit(benchmark::kMillisecond);

void decode_and_crop_photo(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(evaluation_crop(decode(), {}));
}
BENCHMARK(decode_and_crop_photo)->Unit(benchmark::kMillisecond);

void normalise_crop(benchmark::State& state) {
  const Image image = evaluation_crop(decode(), {});
  std::vector<float> out(image.rgb.size());
  for (auto _ : state) {
    normalise(image, {}, out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(normalise_crop)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace soft
