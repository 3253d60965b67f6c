// Does attention find what the task asks for? In a picture of `cue`, the row of the cue's tokens
// should weigh the object of its colour most, or that object's rows should weigh the cue most.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/cue.h"
#include "engine/question.h"
#include "image/transform.h"
#include "spec/model_spec.h"

namespace soft {

// Of one head, in percent of the pictures; a quarter is chance, and rows of zeros find nothing.
struct Pointing {
  int stage = 0, layer = 0, head = 0;  // counted from 1
  double from_cue = 0;                 // the cue's rows weigh the right one of four objects most
  double to_cue = 0;  // of the four objects' rows, the right one's weigh the cue most
};

// The first so many pictures of a split; all heads, in the order in which they run. The weight of
// one part for another is the mean over the tokens of both, by how much of each they cover.
std::vector<Pointing> pointing(const ModelSpec& spec, const Preprocessing& preprocessing,
                               const Answers& model, Split split, int64_t pictures,
                               const std::function<void(int64_t done)>& progress = {});

}  // namespace soft
