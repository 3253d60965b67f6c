// NumPy's .npy files, float32 in C order only: raw tensors in and out of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace soft {

struct Array {
  std::vector<int64_t> shape;
  std::vector<float> data;  // row-major
};

Array read_npy(const std::string& path);

struct NamedArray {
  std::string path;
  Array array;
};

// All of them or none: no file appears or changes before every one is on the disk.
void write_npy(const std::vector<NamedArray>& arrays);
void write_npy(const std::string& path, const Array& array);

// "2x3x224x224", for messages.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace soft
