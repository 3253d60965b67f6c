// SOFT's models inside another program; docs/library.md is the guide.
//
//   const soft::Model model = soft::Model::open("flowers.safetensors");
//   for (const soft::Guess& guess : model.classify(soft::Picture::read("rose.jpg")))
//     std::printf("%5.1f %%  %s\n", 100 * guess.p, guess.name.c_str());
//
// A Model may be asked from any number of threads at once; copies share it. The same input gives
// the same bits. Whatever goes wrong is a soft::Error whose text is one line; when memory runs out,
// std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "soft/error.h"
#include "soft/version.h"

namespace soft {

// Every name below carries the interface's version, so that a program never runs with a library of
// another one.
inline namespace v0_2 {

SOFT_API std::string version();  // of the library that runs; SOFT_VERSION is what was compiled with

// What the library has to say beside its answers goes to `sink`, one line a call and from any
// thread; nullptr, as in the beginning: to stderr.
SOFT_API void log_to(std::function<void(const std::string& line)> sink);

// ---- What goes in

// Pixels of a picture, 8-bit RGB, as it should be looked at.
class SOFT_API Picture {
 public:
  static Picture read(const std::string& path);                // JPEG, PNG or WebP, turned upright
  static Picture decode(const void* bytes, size_t size);       // the same in memory
  Picture(const uint8_t* rgb, int64_t width, int64_t height);  // copies [height, width, 3]

  int64_t width() const;
  int64_t height() const;

  struct Pixels;  // the library's own
  const Pixels& pixels() const { return *pixels_; }

 private:
  explicit Picture(std::shared_ptr<const Pixels> pixels);
  std::shared_ptr<const Pixels> pixels_;
};

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<float> data;  // row by row
};

// What a model reads: pictures, which it prepares as it was trained (resized, cropped to its size,
// normalised), or numbers that are prepared already. Made where it is used:
//   model.logits(picture)   model.logits({first, second})   model.logits({pixels, 8, 224, 224})
struct SOFT_API Input {
  Input(const Picture& picture);        // NOLINT(google-explicit-constructor)
  Input(std::vector<Picture> several);  // NOLINT(google-explicit-constructor)
  Input(std::initializer_list<Picture> several);
  Input(const Tensor& normalised);  // NOLINT: [N, 3, H, W], which must outlive the Input
  Input(const float* normalised, int64_t count, int64_t height, int64_t width);  // so must these

  std::vector<Picture> pictures;  // or, where there are none:
  const float* values = nullptr;  // [count, 3, height, width]
  int64_t count = 0, height = 0, width = 0;
};

// ---- What comes out

struct Guess {
  int64_t index = 0;  // of the class
  std::string name;   // "class 7" where the weights do not name their classes
  double p = 0;
};

// Where a patch looks. Stages, layers and heads count from 1; 0 stands for a good default, kAll for
// each of them, kBest, as a stage, for the layer and head whose attention adds most to the picture,
// or that the weights name.
constexpr int kAll = -1, kBest = -2;
struct Query {
  int x = 0, y = 0;               // a pixel of the picture, whose patch asks
  int stage = 0;                  // the second, or the only one
  int layer = 0;                  // the stage's last
  int head = 0;                   // the first two
  int64_t height = 0, width = 0;  // what the whole picture is resized to; 0: the model's own size
};
struct AttentionMap {
  int stage = 0, layer = 0, head = 0;
  Tensor map;        // [H, W] of the stage: the query's row of the attention matrix
  double share = 0;  // what this head adds beside what its values hold, rms(Y) / rms(V)
};

// ---- What a model is

using Settings = std::vector<std::pair<std::string, std::string>>;  // {"attention", "softmax"}, …

struct StageCard {
  int layers = 0, heads = 0, channels = 0;
  std::string attention;
};
struct ModelCard {
  std::string name;    // of the table's row
  int image_size = 0;  // side of the square it was made for
  int classes = 0;
  std::vector<std::string> class_names;  // as many, or none
  std::vector<StageCard> stages;
  std::array<double, 3> mean{}, std{};  // a channel is (x/255 - mean) / std
  int short_side = 0;                   // of a picture, before the centre is cut out
  Settings settings;                    // every key, as text
};

struct Cost {
  int64_t params = 0;
  int64_t macs = 0;               // multiply-accumulates of one picture,
  int64_t macs_with_inverse = 0;  // and with Newton's steps
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;  // at most, in one layer
};

// The table of models, without weights; `soft info NAME --settings` lists the settings.
SOFT_API std::vector<std::string> models();
SOFT_API ModelCard card(const std::string& model, const Settings& settings = {});
// For pictures of this size; 0: the model's own.
SOFT_API Cost cost(const std::string& model, const Settings& settings = {}, int64_t height = 0,
                   int64_t width = 0);

// ---- The model

struct OpenOptions {
  std::string engine;       // "native", "torch" or "torch-plain"; "": native, or torch where only
                            // LibTorch runs the model
  std::string model;        // for foreign weights: the row that settles what shapes cannot show
  std::string weights_key;  // of a .pth file: the dictionary
  Settings settings;        // changes, in this order
  int size = 0;             // side that pictures are prepared at; 0: the model's own
  int threads = 0;          // of one call; 0: as many as OpenMP would take
  uint64_t seed = 0;        // of weights that nobody trained
};

class SOFT_API Model {
 public:
  // A weights file (.safetensors or .pth); or "", the model in the box; or the name of a row of the
  // table, with weights that nobody trained.
  static Model open(const std::string& path_or_name, const OpenOptions& options = {});

  std::vector<Guess> classify(const Picture& picture, int top = 5) const;
  std::vector<std::vector<Guess>> classify(const Input& input, int top = 5) const;
  Tensor logits(const Input& input) const;                 // [N, classes]
  Tensor embed(const Input& input) const;                  // what the classifier reads, [N, C]
  std::vector<Tensor> features(const Input& input) const;  // after each stage, [N, C, H, W]
  std::vector<AttentionMap> attend(const Picture& picture, const Query& query) const;

  const ModelCard& card() const;
  Cost cost(int64_t height = 0, int64_t width = 0) const;
  std::string engine() const;  // which one answers

  struct Inside;

 private:
  explicit Model(std::shared_ptr<const Inside> inside);
  std::shared_ptr<const Inside> inside_;
};

}  // namespace v0_2
}  // namespace soft
