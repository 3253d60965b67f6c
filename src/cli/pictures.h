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

struct Picture {
  std::string file;
  std::string error;  // why it cannot be read; empty as long as nothing is known against it
};

// Folders are searched for pictures (image/picture_file.h), with a line about what is left out;
// `strict` takes every regular file. Sorted, so that runs compare. A folder without any is a
// picture that cannot be read.
std::vector<Picture> find_pictures(const std::vector<std::string>& inputs, bool strict);

struct PictureBatch {
  std::vector<Picture> entries;
  int64_t count = 0;          // of those that could be read,
  std::vector<float> pixels;  // and theirs, normalised: [count, 3, size, size]
};

// Reads them some at a time, in order, and hands each batch to `use`.
void each_batch(const std::vector<Picture>& pictures, const Preprocessing& preprocessing,
                const std::function<void(const PictureBatch&)>& use);

}  // namespace soft
