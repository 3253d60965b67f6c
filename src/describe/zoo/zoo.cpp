#include "describe/zoo/zoo.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "base/error.h"

namespace soft::zoo {
namespace {

// Sides that a family's windows and strides divide.
using Step = int64_t (*)(const ModelSpec& spec);
int64_t any(const ModelSpec&) { return 1; }
int64_t patch(const ModelSpec& spec) { return spec.number("patch"); }
int64_t pyramid(const ModelSpec& spec) { return 8 * int64_t{spec.number("patch")}; }
int64_t windows(const ModelSpec& spec) {
  int64_t step = 1, cell = spec.number("patch");  // pixels of a token's side
  for (size_t stage = 0; stage < spec.list("depths").size(); ++stage, cell *= 2) {
    step = std::lcm(step, cell * swin_window(spec, static_cast<int>(stage)));
  }
  return step;
}

struct Family {
  std::string_view name;
  Description (*describe)(const ModelSpec& spec, Grid image);
  Step step;
  bool fixed = false;  // its tensors are made for pictures of one size
};

constexpr std::array kFamilies{
    Family{"resnet", describe_resnet, any}, Family{"regnet", describe_regnet, any},
    Family{"san", describe_san, any},       Family{"lambda", describe_lambda, any},
    Family{"botnet", describe_botnet, any}, Family{"vit-old", describe_vit, patch},
    Family{"deit", describe_vit, patch},    Family{"cpvt", describe_vit, patch},
    Family{"t2t", describe_t2t, any},       Family{"cait", describe_cait, patch},
    Family{"pvt", describe_pvt, pyramid},   Family{"twins", describe_twins, pyramid},
    Family{"coat", describe_coat, pyramid}, Family{"swin", describe_swin, windows},
};

const Family& find_family(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (family.name == name) return family;
  }
  fail("no model family is called '{}'; update this program", name);
}

void check_sides(const ModelSpec& spec, Grid image, int64_t step) {
  if (image.h % step == 0 && image.w % step == 0) return;
  const auto near = [&](int64_t side) { return std::max(step, (side + step / 2) / step * step); };
  fail_usage("{} takes pictures whose sides are multiples of {}, not {}x{}; try {}x{}", spec.name,
             step, image.h, image.w, near(image.h), near(image.w));
}

}  // namespace

Description describe(const ModelSpec& spec, Grid image) {
  const Family& family = find_family(spec.family);
  check_sides(spec, image, family.step(spec));
  return family.describe(spec, image);
}

}  // namespace soft::zoo
