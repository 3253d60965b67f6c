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

// Positions as seen from the other end of the batch that all ranks share.
std::vector<int64_t> mirrored(std::vector<int64_t> positions, const LoaderOptions& options,
                              int64_t number) {
  const int64_t shared = options.batch * options.world;
  for (int64_t& position : positions) position = (2 * number + 1) * shared - 1 - position;
  return positions;
}

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
  batch.positions.clear();
  batch.targets.clear();
  batch.broken.clear();
  options_.training ? collate_training(plan, batch) : collate_evaluation(plan, batch);
}

// The ranks' batches of one number are one batch: one mix holds for all of it, and a partner may be
// a picture of another rank's, which is then read here as well.
void Collator::collate_training(const BatchPlan& plan, Batch& batch) const {
  const Augmentation& augmentation = options_.augmentation;
  batch.positions = batch_positions(options_, dataset_.size(), plan.number);
  Random random = random_of(plan, kMix, plan.number);
  const Mix mix = draw_mix(augmentation, batch.size, random);
  const std::vector<Taken> pictures = training_pictures(plan, batch.positions);
  std::vector<Taken> partners;
  if (options_.world > 1 && mix.lambda != 1) {
    partners = training_pictures(plan, mirrored(batch.positions, options_, plan.number));
  }
  if (plan.cancel) return;
  write(pictures, partners, mix, batch);
  std::vector<int64_t> others(batch.labels.rbegin(), batch.labels.rend());
  for (size_t j = 0; j < partners.size(); ++j) others[j] = partners[j].label;
  soft_targets(batch.labels, others, dataset_.class_count(), augmentation.smoothing, mix,
               batch.targets);
  float* planes = batch.pixels.data();
  for (int64_t position : batch.positions) {
    Random noise = random_of(plan, kErase, position);
    maybe_erase(planes, batch.size, augmentation, noise);
    planes += int64_t{3} * batch.size * batch.size;
  }
}

std::vector<Collator::Taken> Collator::training_pictures(
    const BatchPlan& plan, const std::vector<int64_t>& positions) const {
  std::vector<Taken> pictures;
  pictures.reserve(positions.size());
  for (int64_t position : positions) {
    if (plan.cancel) break;
    pictures.push_back(training_picture(plan, position));
  }
  return pictures;
}

void Collator::collate_evaluation(const BatchPlan& plan, Batch& batch) const {
  std::vector<Taken> pictures;
  for (int64_t position : batch_positions(options_, dataset_.size(), plan.number)) {
    if (plan.cancel) return;
    const int64_t index = plan.order[position];
    try {
      pictures.push_back({fit(dataset_.load(index), dataset_, options_.preprocessing), index,
                          dataset_.labels[index]});
    } catch (const Error& error) {
      log_once(fmt::format("{}; counted as a wrong answer", error.what()));
      batch.broken.push_back({index, dataset_.labels[index], error.what()});
    }
  }
  write(pictures, {}, Mix{}, batch);
}

// A picture that cannot be read is named once and another one, drawn at random, takes its place:
// one bad file in a million does not end a run.
Collator::Taken Collator::training_picture(const BatchPlan& plan, int64_t position) const {
  int64_t index = plan.order[position];
  Random random = random_of(plan, kAugment, position);
  for (int failures = 0;;) {
    try {
      Image image = dataset_.draw ? dataset_.draw(index, plan.epoch) : dataset_.load(index);
      return {augment(image, dataset_, options_.preprocessing, options_.augmentation, random),
              index, dataset_.labels[index]};
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

// Without partners of their own the pictures are each other's, in reverse.
void Collator::write(const std::vector<Taken>& pictures, const std::vector<Taken>& partners,
                     const Mix& mix, Batch& batch) const {
  const size_t count = pictures.size();
  const size_t picture_floats = size_t{3} * batch.size * batch.size;
  batch.count = static_cast<int64_t>(count);
  batch.pixels.resize(count * picture_floats);  // [N, 3, H, W]
  for (size_t j = 0; j < count; ++j) {
    batch.labels.push_back(pictures[j].label);
    batch.indices.push_back(pictures[j].index);
    const Image& partner = (partners.empty() ? pictures[count - 1 - j] : partners[j]).image;
    write_mixed(pictures[j].image, partner, mix, table_, batch.pixels.data() + j * picture_floats);
  }
}

Random Collator::random_of(const BatchPlan& plan, uint64_t purpose, int64_t item) const {
  return Random(options_.seed,
                {static_cast<uint64_t>(plan.epoch), purpose, static_cast<uint64_t>(item)});
}

}  // namespace soft
