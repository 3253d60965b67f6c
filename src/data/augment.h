// Random changes to one training picture, 8 bit in and out; every switch of the recipe is a field.
#pragma once

#include "base/random.h"
#include "data/dataset.h"
#include "image/image.h"
#include "image/transform.h"

namespace soft {

enum class Crop {
  kNone,           // as in evaluation
  kRandomResized,  // a random window of random shape, resized
  kPad,            // as in evaluation, then shifted by up to `pad` pixels over black
};

struct Augmentation {
  Crop crop = Crop::kRandomResized;
  double min_scale = 0.08, max_scale = 1.0;  // area of the window, as a part of the picture
  double min_ratio = 3.0 / 4, max_ratio = 4.0 / 3;
  int pad = 4;
  double flip = 0.5;  // probability of mirroring, where the set allows it

  int operations = 2;  // RandAugment: operations drawn per picture; 0 switches it off
  double operation_probability = 0.5;
  double level = 9, level_spread = 0.5;  // N(level, spread), clipped to [0, 10]

  double mixup = 0.8;          // Beta(mixup, mixup); 0: never
  double cutmix = 1.0;         // Beta(cutmix, cutmix); 0: never
  double cutmix_chance = 0.5;  // which of the two, where both are on
  double mix_probability = 1.0;

  double erasing = 0.25;  // probability
  double min_erased = 0.02, max_erased = 1.0 / 3;
  double erased_aspect = 0.3;  // height to width between this and its inverse

  double smoothing = 0.1;  // of the targets
};

// Fails when a field is out of its range.
void validate(const Augmentation& augmentation);

// A window of a picture, in whole pixels.
struct Window {
  int left = 0, top = 0, width = 0, height = 0;
};

Filter random_filter(Random& random);  // either, evenly

Window random_resized_window(Grid picture, const Augmentation& augmentation, Random& random);

// Cuts out a window that may reach beyond the picture, where it is black.
Image cut(const Image& image, const Window& window);

Image rand_augment(Image image, const Augmentation& augmentation, Random& random);

// Crop, flip and RandAugment: the picture at the size the model reads.
Image augment(Image image, const Dataset& dataset, const Preprocessing& preprocessing,
              const Augmentation& augmentation, Random& random);

// Overwrites a random window of normalised planes [3, size, size] with N(0, 1) noise.
void maybe_erase(float* planes, int size, const Augmentation& augmentation, Random& random);

}  // namespace soft
