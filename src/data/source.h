// Where data sets come from: one function per kind.
#pragma once

#include <string>

#include "data/dataset.h"

namespace soft {

// ImageNet's layout: DIR/train/CLASS/… and DIR/val/CLASS/…, or DIR/CLASS/… where there is neither;
// classes in natural order. Files that are no pictures (image/picture_file.h) are left out and
// counted; `strict` takes every file. An optional DIR/classes.txt gives folders readable names, one
// "folder name" a line.
Dataset open_folder(const std::string& folder, Split split, bool strict = false);
bool has_validation(const std::string& folder);  // DIR/val

// CIFAR-10's binary batches: data_batch_1.bin … data_batch_5.bin and test_batch.bin.
Dataset open_cifar10(const std::string& folder, Split split);

// MNIST's file format, plain or compressed. Pictures are centred on black squares whose side is a
// multiple of 32 and repeated to three channels. Without `classes`, labels name the classes.
Dataset open_idx(const std::string& folder, Split split, std::vector<std::string> classes = {});

struct ShapesOptions {
  int size = 32;
  uint64_t seed = 0;
};

// Ten kinds of shapes in random colours, places, sizes and angles, drawn when asked for.
Dataset draw_shapes(const ShapesOptions& options, Split split);

}  // namespace soft
