// Where data sets come from: one function per kind.
#pragma once

#include <string>

#include "data/dataset.h"

namespace soft {

struct FolderOptions {
  Split split = Split::kTrain;
  bool strict = false;
  std::string spare_index{};       // as in DataRequest
  int64_t worth_keeping = 10'000;  // a listing of fewer files leaves no index in people's folders
};

// ImageNet's layout: DIR/train/CLASS/… and DIR/val/CLASS/…, or DIR/CLASS/… where there is neither;
// classes in natural order. Files that are no pictures (image/picture_file.h) are left out and
// counted; `strict` takes every file. An optional DIR/classes.txt gives folders readable names, one
// "folder name" a line.
// The listing of many files is kept in DIR/.soft-index (data/index_file.h).
Dataset open_folder(const std::string& folder, const FolderOptions& options);
bool has_validation(const std::string& folder);  // DIR/val

struct ShardOptions {
  Split split = Split::kTrain;
  std::string spare_index{};  // as in DataRequest
};

// WebDataset's shards, by the names that data/shard_names.h understands. Their samples are listed
// once and kept in .soft-index beside them; classes.txt there may have lines "NUMBER NAME". What is
// damaged is named; the good samples are used.
Dataset open_shards(const std::string& names, const ShardOptions& options);
bool has_validation_shards(const std::string& names);

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
