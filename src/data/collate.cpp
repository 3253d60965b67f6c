#include "data/collate.h"

#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "data/sampler.h"

namespace soft {
namespace {

// What a generator is for. Those of pictures depend on the place in the epoch alone, so that
// neither the batch size nor the number of ranks changes how a picture is augmented.
enum Purpose : uint64_t { kAugment = 1, kMix = 2, kErase = 3 };

// So many unreadable pictures in a row mean that this is not a folder of pictures.
constexpr int kMaxReplacements = 50;

}  // namespace

Collator::Collator(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(dataset), options_(options), table_(normalise_table(options.preprocessing)) {}

void Collator::collate(const BatchPlan& plan, Batch& batch) const {
  batch.count = 0;
  batch.size = options_.preprocessing.size;
  batch.epoch = plan.epoch;
  batch.number = plan.number;
  batch.labels.clear();
  batch.indices.clear();
  batch.targets.clear();
  batch.broken.clear();
  options_.training ? collate_training(plan, batch) : collate_evaluation(plan, batch);
}

void Collator::collate_training(const BatchPlan& plan, Batch& batch) const {
  const Augmentation& augmentation = options_.augmentation;
  const auto positions = batch_positions(options_, dataset_.size(), plan.number);
  std::vector<Image> pictures;
  pictures.reserve(positions.size());
  for (int64_t position : positions) {
    if (plan.cancel) return;
    const Random random = random_of(plan, kAugment, position);
    pictures.push_back(training_picture(plan.order[position], random, batch));
  }
  Random random = random_of(plan, kMix, plan.number * options_.world + options_.rank);
  const Mix mix = draw_mix(augmentation, batch.size, random);
  write(pictures, mix, batch);
  soft_targets(batch.labels, dataset_.class_count(), augmentation.smoothing, mix, batch.targets);
  float* planes = batch.pixels.data();
  for (int64_t position : positions) {
    Random noise = random_of(plan, kErase, position);
    maybe_erase(planes, batch.size, augmentation, noise);
    planes += int64_t{3} * batch.size * batch.size;
  }
}

void Collator::collate_evaluation(const BatchPlan& plan, Batch& batch) const {
  std::vector<Image> pictures;
  for (int64_t position : batch_positions(options_, dataset_.size(), plan.number)) {
    if (plan.cancel) return;
    const int64_t index = plan.order[position];
    try {
      pictures.push_back(fit(dataset_.load(index), dataset_, options_.preprocessing));
      batch.labels.push_back(dataset_.labels[index]);
      batch.indices.push_back(index);
    } catch (const Error& error) {
      log_once(fmt::format("{}; counted as a wrong answer", error.what()));
      batch.broken.push_back({index, dataset_.labels[index], error.what()});
    }
  }
  write(pictures, Mix{}, batch);
}

// A picture that cannot be read is named once and another one, drawn at random, takes its place:
// one bad file in a million does not end a run.
Image Collator::training_picture(int64_t index, Random random, Batch& batch) const {
  for (int failures = 0;;) {
    try {
      Image image = augment(dataset_.load(index), dataset_, options_.preprocessing,
                            options_.augmentation, random);
      batch.labels.push_back(dataset_.labels[index]);
      batch.indices.push_back(index);
      return image;
    } catch (const Error& error) {
      if (++failures > kMaxReplacements) {
        fail("{} pictures of '{}' drawn in a row cannot be read; the last: {}", failures,
             dataset_.name, error.what());
      }
      log_once(fmt::format("{}; another picture takes its place", error.what()));
    }
    index = random.below(dataset_.size());
  }
}

void Collator::write(const std::vector<Image>& pictures, const Mix& mix, Batch& batch) const {
  const size_t count = pictures.size();
  const size_t picture_floats = size_t{3} * batch.size * batch.size;
  batch.count = static_cast<int64_t>(count);
  batch.pixels.resize(count * picture_floats);  // [N, 3, H, W]
  for (size_t j = 0; j < count; ++j) {
    write_mixed(pictures[j], pictures[count - 1 - j], mix, table_,
                batch.pixels.data() + j * picture_floats);
  }
}

Random Collator::random_of(const BatchPlan& plan, uint64_t purpose, int64_t item) const {
  return Random(options_.seed,
                {static_cast<uint64_t>(plan.epoch), purpose, static_cast<uint64_t>(item)});
}

}  // namespace soft
