// Weights files: safetensors (ours) and published .pth checkpoints, read through one interface.
// The file is read whole; tensors are views into its bytes until someone copies or converts them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "spec/model_spec.h"

namespace soft {

struct TensorShape;  // describe/description.h

enum class DType { kF32, kF16, kBF16, kF64, kI64, kI32, kU8, kI8 };

size_t size_of(DType type);
std::string_view name_of(DType type);  // as safetensors spells it: "F32", …

// A tensor inside a file's bytes (or any memory that outlives it): row-major, maybe not aligned.
struct TensorView {
  DType type = DType::kF32;
  std::vector<int64_t> shape;
  const uint8_t* data = nullptr;

  int64_t elements() const;
  size_t bytes() const;
};

// Converts any floating type to float32.
std::vector<float> to_floats(const TensorView& tensor);
void copy_floats(const TensorView& tensor, float* out);  // out has room for elements()

// Everything a file says, in one place. Const and shareable once loaded; keeps its bytes alive.
struct Weights {
  std::string path;
  std::map<std::string, TensorView> tensors;    // published names (docs/weights_format.md)
  std::map<std::string, std::string> metadata;  // safetensors' __metadata__, verbatim
  std::string source_key;                       // .pth: the dictionary taken, "state_dict_ema" …
  std::shared_ptr<const void> storage;          // owns the bytes behind the views
};

// Opens either kind, by content. `key` picks a .pth dictionary; empty prefers the EMA weights and
// logs the choice. Refuses malformed files with an Error that names the file and the defect.
Weights read_weights(const std::string& path, const std::string& key = "");

// Weights that nobody trained, as a new model starts with: norms 1 and 0, biases 0, everything else
// drawn from the seed. The same for any number of threads.
Weights random_weights(const ModelSpec& spec, uint64_t seed);

// One head of a model, all counted from 1.
struct HeadPlace {
  int stage = 0, layer = 0, head = 0;
};

// What stands in our own files beside the tensors, as JSON under the metadata key "soft".
struct Card {
  ModelSpec spec;
  std::vector<std::string> class_names;  // empty when unknown
  std::vector<double> mean{0.485, 0.456, 0.406};
  std::vector<double> std{0.229, 0.224, 0.225};
  double crop_fraction = 0.9;      // short side is resized to floor(size / fraction)
  std::optional<HeadPlace> shown;  // whose maps are worth seeing first, where somebody found out
  Json extra;                      // recipe, metrics: carried along untouched

  int short_side() const { return static_cast<int>(spec.image_size / crop_fraction); }
};

// The card stored in the file, or one inferred from the tensors' shapes; its spec fits the tensors.
// For a file without a card `model` may name the table row it holds, which settles what shapes
// cannot show (norm, inverse, …); an Error when shapes or card contradict it.
Card card_of(const Weights& weights, const std::string& model = "");
Card infer_card(const Weights& weights);

// Throws when tensors are missing, unknown or of the wrong shape, or when BN's statistics are no
// such (not finite, a variance below zero), naming up to a handful of each.
void check_fit(const Weights& weights, const ModelSpec& spec);
void check_fit(const Weights& weights, const std::vector<TensorShape>& wanted,
               const std::string& model);  // whose tensors are wanted

struct WriteOptions {
  DType type = DType::kF32;  // floating tensors are stored as this (kF32, kF16 or kBF16)
};

// Writes a safetensors file atomically, tensors in the given order.
struct NamedTensor {
  std::string name;
  TensorView view;
  bool exact = false;  // keeps its own type, whatever the options say
};
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata,
                       const WriteOptions& options = {});

// An Error, which calls it `what`, unless the model has such a head.
void check_shown(const HeadPlace& place, const ModelSpec& spec, const std::string& what);

Json to_json(const Card& card);
std::map<std::string, std::string> metadata_of(const Card& card);  // {"soft": …}

}  // namespace soft
