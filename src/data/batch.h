// What a loader is asked for and what it hands out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/augment.h"
#include "image/transform.h"

namespace soft {

struct BrokenPicture {
  int64_t index = 0;
  int label = 0;
  std::string reason;  // names the file
};

struct Batch {
  int64_t count = 0;               // N
  int size = 0;                    // H = W
  std::vector<float> pixels;       // [N, 3, H, W], normalised
  std::vector<float> targets;      // [N, classes], smoothed and mixed; empty in evaluation
  std::vector<int64_t> labels;     // [N]
  std::vector<int64_t> indices;    // [N], places in the data set
  std::vector<int64_t> positions;  // [N], places in the epoch; empty in evaluation
  int64_t epoch = 0;
  int64_t number = 0;                 // in the epoch
  std::vector<BrokenPicture> broken;  // evaluation: pictures that could not join the batch
};

struct LoaderOptions {
  int64_t batch = 64;     // pictures per batch on this rank
  bool training = false;  // shuffle, augment, drop the incomplete last batch
  Augmentation augmentation;
  Preprocessing preprocessing;
  uint64_t seed = 42;      // the same on every rank
  int64_t shuffle = 8192;  // shards: the shuffle buffers of all ranks together, in pictures
  int workers = 0;         // 0: one per core
  int rank = 0, world = 1;
};

}  // namespace soft
