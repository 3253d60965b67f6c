// The switches of the method as enumerations, each with its names on the command line and in files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/soft_form.h"  // Inverse, Normalise

namespace soft {

enum class Mechanism {
  kSoft,             // the paper's softmax-free attention through m landmarks
  kSoftNorm,         // the same with D^-1/2 inv(A) D^-1/2 (SOFT++)
  kSoftDense,        // every token its own landmark, no inverse: stage 4 in the paper's Table 2
  kSoftmax,          // softmax(QK'/sqrt d) V
  kGaussian,         // the exact Gaussian kernel of the appendix
  kGaussianSoftmax,  // the same with a row softmax on top
  kLinformer,        // softmax over K and V projected to a fixed number of rows
  kPerformer,        // softmax through positive random features
  kNystromformer,    // softmax through landmarks of Q and K
  kReformer,         // softmax within buckets of similar tokens, Q and K shared
  kNone,             // no mixing at all, Y = 0: what every comparison is measured from
};

enum class Sampler { kConv, kAvg, kRandom, kBiased };
enum class InverseGrad { kOneShot, kUnrolled };

// Where d^-1/4 stands for landmarks that pass a LayerNorm: before it, which undoes it (released
// code), or after it, so that tokens and landmarks share one scale (the paper's formula).
enum class KernelScale { kReleased, kPaper };

enum class Stage4 { kSoftmax, kSoft };
enum class LayerForm { kPost, kPre };  // LN after the residual (SOFT) or before the branch (ViT)

// Names in the order of the enumerators.
const std::vector<std::string_view>& names_of(Mechanism);
const std::vector<std::string_view>& names_of(Sampler);
const std::vector<std::string_view>& names_of(Inverse);
const std::vector<std::string_view>& names_of(InverseGrad);
const std::vector<std::string_view>& names_of(KernelScale);
const std::vector<std::string_view>& names_of(Normalise);
const std::vector<std::string_view>& names_of(Stage4);
const std::vector<std::string_view>& names_of(LayerForm);

template <class Enum>
std::string_view name_of(Enum value) {
  return names_of(value)[static_cast<size_t>(value)];
}

// The position of `text` in `names`; otherwise a usage error with all names and the nearest one.
// `key` says what was being set ("attention", "sampler", …).
size_t parse_name(std::string_view key, std::string_view text,
                  const std::vector<std::string_view>& names);

template <class Enum>
Enum parse_enum(std::string_view key, std::string_view text) {
  return static_cast<Enum>(parse_name(key, text, names_of(Enum{})));
}

}  // namespace soft
