#include "study/pointing.h"

#include <algorithm>
#include <array>

#include "engine/attend.h"

namespace soft {
namespace {

constexpr int64_t kPicturesAtOnce = 50;
constexpr int kCue = kCueObjects;  // the part behind the objects

// How much of every token each part covers.
using Parts = std::array<std::vector<double>, kCueObjects + 1>;

std::vector<double> coverage(const std::vector<float>& mask, int size, Grid grid) {
  std::vector<double> tokens(grid.size());
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      tokens[y * grid.h / size * grid.w + x * grid.w / size] += mask[y * size + x];
    }
  }
  return tokens;
}

struct Scene {
  Parts parts;
  int right = 0;
};

// Weights [heads][of a part][for a part], summed as rows come in.
struct Sums {
  std::vector<std::array<std::array<double, kCueObjects + 1>, kCueObjects + 1>> heads;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

void add_row(const Scene& scene, const float* row, int64_t token, int head, Sums& sums) {
  std::array<double, kCueObjects + 1> seen{};
  for (int to = 0; to <= kCue; ++to) {
    for (size_t i = 0; i < scene.parts[to].size(); ++i) seen[to] += scene.parts[to][i] * row[i];
  }
  for (int from = 0; from <= kCue; ++from) {
    for (int to = 0; to <= kCue; ++to) {
      sums.heads[head][from][to] += scene.parts[from][token] * seen[to];
    }
  }
}

// Has the right object the largest weight, of the cue's rows for it or of its rows for the cue?
// Not where another has as much: rows of zeros find nothing.
bool finds(const Scene& scene, const Sums& sums, int head, bool from_cue) {
  const auto& table = sums.heads[head];
  const auto weight_of = [&](int object) {
    return (from_cue ? table[kCue][object] : table[object][kCue]) / sum_of(scene.parts[object]);
  };
  for (int object = 0; object < kCueObjects; ++object) {
    if (object != scene.right && !(weight_of(scene.right) > weight_of(object))) return false;
  }
  return true;
}

bool is_covered(const std::vector<Scene>& scenes, int64_t token) {
  return std::any_of(scenes.begin(), scenes.end(), [&](const Scene& scene) {
    return std::any_of(scene.parts.begin(), scene.parts.end(),
                       [&](const std::vector<double>& part) { return part[token] > 0; });
  });
}

struct Count {
  int64_t from_cue = 0, to_cue = 0;
};

// Some pictures, as the model reads them.
struct Scenes {
  std::vector<float> pixels;
  std::vector<CuePicture> drawn;

  std::vector<Scene> on(Grid grid, int size) const {
    std::vector<Scene> scenes(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i) {
      scenes[i].right = drawn[i].right;
      for (int object = 0; object < kCueObjects; ++object) {
        scenes[i].parts[object] = coverage(drawn[i].masks[object], size, grid);
      }
      scenes[i].parts[kCue] = coverage(drawn[i].cue, size, grid);
    }
    return scenes;
  }
};

Scenes draw_scenes(int size, const Preprocessing& preprocessing, Split split, int64_t first,
                   int64_t end) {
  Scenes scenes;
  for (int64_t i = first; i < end; ++i) {
    scenes.drawn.push_back(draw_cue({size, 0}, split, i));
    const AttendInput input = attend_input(scenes.drawn.back().image, preprocessing);
    scenes.pixels.insert(scenes.pixels.end(), input.pixels.begin(), input.pixels.end());
  }
  return scenes;
}

// The rows of every token that is part of something, in one stage: [pictures].
std::vector<Sums> sums_of(const Answers& model, const ImageBatch& images,
                          const std::vector<Scene>& scenes, RowQuery query, int heads) {
  std::vector<Sums> sums(scenes.size());
  for (Sums& own : sums) own.heads.resize(heads);
  const auto tokens = static_cast<int64_t>(scenes.front().parts[kCue].size());
  for (query.token = 0; query.token < tokens; ++query.token) {
    if (!is_covered(scenes, query.token)) continue;
    const Array rows = model.rows(images, query).maps;
    const int64_t width = rows.shape[2], prefix = width - tokens;  // a class token
    for (size_t picture = 0; picture < scenes.size(); ++picture) {
      for (int head = 0; head < heads; ++head) {
        const int64_t row = static_cast<int64_t>(picture) * heads + head;
        add_row(scenes[picture], rows.data.data() + row * width + prefix, query.token, head,
                sums[picture]);
      }
    }
  }
  return sums;
}

void add_counts(const std::vector<Scene>& scenes, const std::vector<Sums>& sums,
                std::vector<Count>& counts) {
  for (size_t picture = 0; picture < scenes.size(); ++picture) {
    const Scene& scene = scenes[picture];
    for (int head = 0; head < static_cast<int>(counts.size()); ++head) {
      counts[head].from_cue += finds(scene, sums[picture], head, true) ? 1 : 0;
      counts[head].to_cue += finds(scene, sums[picture], head, false) ? 1 : 0;
    }
  }
}

}  // namespace

std::vector<Pointing> pointing(const ModelSpec& spec, const Preprocessing& preprocessing,
                               const Answers& model, Split split, int64_t pictures,
                               const std::function<void(int64_t done)>& progress) {
  const Grid size{spec.image_size, spec.image_size};
  const int stages = static_cast<int>(spec.stages.size());
  std::vector<std::vector<Count>> counts(stages);
  for (int s = 0; s < stages; ++s) {
    counts[s].resize(static_cast<size_t>(spec.stages[s].depth) * spec.stages[s].heads);
  }
  for (int64_t first = 0; first < pictures; first += kPicturesAtOnce) {
    const int64_t end = std::min(first + kPicturesAtOnce, pictures);
    const Scenes drawn = draw_scenes(spec.image_size, preprocessing, split, first, end);
    for (int s = 0; s < stages; ++s) {
      const std::vector<Scene> scenes = drawn.on(stage_grid(spec, s, size), spec.image_size);
      const std::vector<Sums> sums =
          sums_of(model, {drawn.pixels.data(), end - first, size}, scenes,
                  {s, 0, 0, spec.stages[s].depth}, static_cast<int>(counts[s].size()));
      add_counts(scenes, sums, counts[s]);
    }
    if (progress) progress(end);
  }
  std::vector<Pointing> all;
  const double percent = 100.0 / static_cast<double>(pictures);
  for (int s = 0; s < stages; ++s) {
    const int heads = spec.stages[s].heads;
    for (int i = 0; i < static_cast<int>(counts[s].size()); ++i) {
      all.push_back({s + 1, i / heads + 1, i % heads + 1,
                     percent * static_cast<double>(counts[s][i].from_cue),
                     percent * static_cast<double>(counts[s][i].to_cue)});
    }
  }
  return all;
}

}  // namespace soft
