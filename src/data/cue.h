// `cue`: a task that needs two places of a picture to meet. Each quadrant holds one object, four
// different shapes in four different colours, and a small square in the middle has the colour of
// one of them. The class is the shape of that one, so who sees the shapes alone is right in a
// quarter of the pictures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "image/image.h"

namespace soft {

struct CueOptions {
  int size = 32;
  uint64_t seed = 0;
};

constexpr int kSmallestCue = 16;  // pixels a side, below which a cross is no cross any more
constexpr int kCueObjects = 4;

const std::vector<std::string>& cue_shapes();  // the classes
const std::vector<std::string>& cue_colours();

// One picture and where its parts are.
struct CuePicture {
  Image image;
  std::array<int, kCueObjects>
      shapes{};  // of the objects: top left and right, bottom left and right
  std::array<int, kCueObjects> colours{};
  int right = 0;  // the object that has the cue's colour
  // How much of every pixel an object, or the cue, covers: [size, size], 0 to 1.
  std::array<std::vector<float>, kCueObjects> masks;
  std::vector<float> cue;

  int label() const { return shapes[right]; }
};

// The picture with this number as epoch `epoch` of training sees it; its label is the same in every
// epoch. Epoch 0 is what everybody else sees.
CuePicture draw_cue(const CueOptions& options, Split split, int64_t index, int64_t epoch = 0);

// 30,000 pictures for training, 2,000 for validation.
Dataset open_cue(const CueOptions& options, Split split);

}  // namespace soft
