// Pictures named on the command line: folders are walked, `-` is standard input, and one that
// cannot be read does not keep the others from being read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "image/transform.h"

namespace soft {

// As it should be looked at, its EXIF orientation applied; `-` is standard input.
Image read_upright(const std::string& file);

// Every regular file of a folder counts. Sorted, so that runs compare.
std::vector<std::string> picture_files(const std::vector<std::string>& inputs);

struct PictureBatch {
  struct Entry {
    std::string file;
    std::string error;  // empty when it could be read
  };
  std::vector<Entry> entries;
  int64_t count = 0;          // of those that could be read,
  std::vector<float> pixels;  // and theirs, normalised: [count, 3, size, size]
};

// Reads the files some at a time, in order, and hands each batch to `use`.
void each_batch(const std::vector<std::string>& files, const Preprocessing& preprocessing,
                const std::function<void(const PictureBatch&)>& use);

}  // namespace soft
