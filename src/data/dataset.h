// Labelled pictures, wherever they come from. A data set is a plain struct: what is known about it
// and one function that loads a picture. Sources make one, decorators turn one into another.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "image/image.h"
#include "image/transform.h"

namespace soft {

enum class Split { kTrain, kValidation };

struct Dataset {
  std::string name;                  // as asked for: "cifar10", "folder:flowers"
  std::vector<std::string> classes;  // class index -> name
  std::vector<int> labels;           // one class index per picture
  int native_size = 0;               // side of its square pictures; 0: photos of any size
  bool mirrors = true;               // a mirrored picture still belongs to its class
  double held_out = 0;               // part of the training pictures that validate; 0: it has own
  std::array<float, 3> mean = Preprocessing{}.mean;
  std::array<float, 3> std = Preprocessing{}.std;

  // Both may be called from any thread. `load` throws Error for a picture that cannot be read.
  std::function<Image(int64_t index)> load;
  std::function<std::string(int64_t index)> describe;  // the file, or set and number
  // Sets that are drawn anew: the picture as an epoch of training sees it, its label unchanged.
  std::function<Image(int64_t index, int64_t epoch)> draw;
  std::function<std::vector<uint8_t>(int64_t index)> read;  // the file's bytes, where it has one

  // Where pictures lie one behind the other in shards and are best read in that order: the first
  // picture of each shard. Empty: any order is as good.
  std::vector<int64_t> shards;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t class_count() const { return static_cast<int64_t>(classes.size()); }
};

struct DataRequest {
  // cifar10[:DIR], mnist, fashion-mnist, idx:DIR, folder:DIR, tar:DIR, shapes, cue
  std::string spec;
  Split split = Split::kTrain;
  int64_t limit = 0;    // at most so many pictures; 0: all
  int size = 32;        // side at which `shapes` and `cue` are drawn; the other sets have their own
  uint64_t seed = 0;    // of `shapes` and `cue`
  bool strict = false;  // folders: every file is a picture, also one that does not look like one
  // Part of every class's training pictures that is kept for validation, always the same ones.
  // 0: the set's own validation pictures, and a tenth of a folder or of shards that have none.
  double val_fraction = 0;
  std::string spare_index{};  // folder for the index of a folder that cannot be written; "": none
};

// Everything that can be known to be wrong before the first picture is read is an Error here.
Dataset open_dataset(const DataRequest& request);

// Decorators. `chosen` of its pictures, in that order; `count` pictures drawn evenly at random; the
// pictures of each class without a `fraction` drawn at random, or those alone. Always the same
// ones.
Dataset subset(Dataset dataset, std::vector<int64_t> chosen);
Dataset limited(Dataset dataset, int64_t count);
Dataset held_out(Dataset dataset, double fraction, Split split);

// What a model trained on this set at this input size expects of any picture.
Preprocessing preprocessing_of(const Dataset& dataset, int size);

// The picture as evaluation sees it: sets with a native size are taken whole (resized only when
// the input size differs), photos get the evaluation crop.
Image fit(Image image, const Dataset& dataset, const Preprocessing& preprocessing);

}  // namespace soft
