#include "data/mix.h"

#include <algorithm>
#include <cmath>

namespace soft {
namespace {

constexpr int64_t kRun = 256;  // pixels mixed at a time, so that they stay in the first cache

// Adding 2^23 leaves a float no bits behind the point, so the unit rounds to nearest, ties to even.
uint8_t rounded(float value) { return static_cast<uint8_t>((value + 0x1p23f) - 0x1p23f); }

// Writes pixels [first, first + count) of a picture with `area` pixels from interleaved bytes.
struct PlaneWriter {
  const NormaliseTable& table;
  float* planes;  // [3, area]
  int64_t area;

  void operator()(const uint8_t* rgb, int64_t first, int64_t count) const {
    float* red = planes + first;
    float* green = red + area;
    float* blue = green + area;
    for (int64_t i = 0; i < count; ++i) {
      red[i] = table[0][rgb[3 * i]];
      green[i] = table[1][rgb[3 * i + 1]];
      blue[i] = table[2][rgb[3 * i + 2]];
    }
  }
};

void write_blend(const Image& image, const Image& partner, double lambda,
                 const PlaneWriter& write) {
  const auto share = static_cast<float>(lambda);
  const auto rest = static_cast<float>(1 - lambda);
  uint8_t mixed[3 * kRun];
  for (int64_t first = 0; first < write.area; first += kRun) {
    const int64_t count = std::min(kRun, write.area - first);
    const uint8_t* a = image.rgb.data() + 3 * first;
    const uint8_t* b = partner.rgb.data() + 3 * first;
    for (int64_t i = 0; i < 3 * count; ++i) mixed[i] = rounded(a[i] * share + b[i] * rest);
    write(mixed, first, count);
  }
}

void write_pasted(const Image& image, const Image& partner, const Window& box,
                  const PlaneWriter& write) {
  write(image.rgb.data(), 0, write.area);
  for (int y = box.top; y < box.top + box.height; ++y) {
    write(partner.pixel(box.left, y), int64_t{y} * image.width + box.left, box.width);
  }
}

}  // namespace

Mix cutmix_at(double lambda, int size, int centre_x, int centre_y) {
  const int half = static_cast<int>(size * std::sqrt(1 - lambda)) / 2;
  const auto inside = [size](int value) { return std::clamp(value, 0, size); };
  Mix mix;
  mix.paste = true;
  mix.box.left = inside(centre_x - half);
  mix.box.top = inside(centre_y - half);
  mix.box.width = inside(centre_x + half) - mix.box.left;
  mix.box.height = inside(centre_y + half) - mix.box.top;
  mix.lambda = 1 - static_cast<double>(mix.box.width) * mix.box.height / (double(size) * size);
  return mix;
}

Mix draw_mix(const Augmentation& augmentation, int size, Random& random) {
  const bool mixup = augmentation.mixup > 0;
  const bool cutmix = augmentation.cutmix > 0;
  if (!(mixup || cutmix) || !random.chance(augmentation.mix_probability)) return {};
  const bool paste = mixup && cutmix ? random.chance(augmentation.cutmix_chance) : cutmix;
  const double alpha = paste ? augmentation.cutmix : augmentation.mixup;
  Mix mix;
  mix.lambda = random.beta(alpha, alpha);
  if (!paste) return mix;
  const auto centre_x = static_cast<int>(random.below(size));
  const auto centre_y = static_cast<int>(random.below(size));
  return cutmix_at(mix.lambda, size, centre_x, centre_y);
}

NormaliseTable normalise_table(const Preprocessing& preprocessing) {
  Image ramp(256, 1);
  for (int value = 0; value < 256; ++value) {
    std::fill_n(ramp.pixel(value, 0), 3, static_cast<uint8_t>(value));
  }
  NormaliseTable table;
  normalise(ramp, preprocessing, table[0].data());
  return table;
}

void write_mixed(const Image& image, const Image& partner, const Mix& mix,
                 const NormaliseTable& table, float* planes) {
  const PlaneWriter write{table, planes, image.grid().size()};
  if (mix.lambda == 1) {
    write(image.rgb.data(), 0, write.area);
  } else if (mix.paste) {
    write_pasted(image, partner, mix.box, write);
  } else {
    write_blend(image, partner, mix.lambda, write);
  }
}

void soft_targets(const std::vector<int64_t>& labels, const std::vector<int64_t>& partners,
                  int64_t classes, double smoothing, const Mix& mix, std::vector<float>& targets) {
  const size_t count = labels.size();
  const double off = smoothing / static_cast<double>(classes);
  const double on = 1 - smoothing;  // on top of `off`
  targets.assign(count * classes, static_cast<float>(off));
  for (size_t j = 0; j < count; ++j) {
    float* row = targets.data() + j * classes;
    const int64_t own = labels[j];
    const int64_t other = partners[j];
    const auto value = [&](double share) { return static_cast<float>(off + on * share); };
    row[other] = value(1 - mix.lambda);
    row[own] = value(own == other ? 1 : mix.lambda);
  }
}

}  // namespace soft
