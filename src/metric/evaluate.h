// One evaluation for every engine: batches go to whatever computes logits, answers are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/loader.h"
#include "metric/confusion.h"
#include "metric/tally.h"

namespace soft {

struct Prediction {
  int64_t index = 0;   // place in the data set
  int64_t label = 0;   // the truth
  int64_t answer = 0;  // the class with the highest logit; -1 for a picture that cannot be read
  double probability = 0;
};

struct Evaluation {
  double top1 = 0, top5 = 0;  // per cent of all images
  double loss = 0;            // mean over the images that could be read
  int64_t images = 0;
  int64_t first = 0, first_five = 0;  // images whose class came first, or among the first five
  int64_t broken = 0;                 // images that cannot be read: reported, and counted as wrong
  double seconds = 0;
  std::vector<ClassTally> per_class;
  Confusion confusion;
  std::vector<Prediction> predictions;  // when asked for
};

// Logits [count, classes] of a batch.
using LogitsFunction = std::function<std::vector<float>(const Batch&)>;

struct EvaluateOptions {
  bool predictions = false;
  std::function<void(int64_t done, int64_t images)> progress;  // after every batch
};

// Runs through the loader's data set once. The loader must not be a training loader.
Evaluation evaluate(Loader& loader, const LogitsFunction& logits,
                    const EvaluateOptions& options = {});

// "image,class,name,predicted,predicted_name,p", one line per picture.
void write_predictions(const std::string& path, const Dataset& dataset,
                       const std::vector<Prediction>& predictions);

}  // namespace soft
