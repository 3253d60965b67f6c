#include "data/dataset.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "base/random.h"
#include "data/cue.h"
#include "data/held_out.h"
#include "data/installed.h"
#include "data/source.h"

namespace soft {
namespace {

const std::vector<std::string> kDigits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
const std::vector<std::string> kGarments{"T-shirt/top", "trouser",   "pullover", "dress",
                                         "coat",        "sandal",    "shirt",    "sneaker",
                                         "bag",         "ankle boot"};

// A spec "kind" or "kind:folder".
struct Spec {
  std::string kind;
  std::string folder;
};

Spec parse_spec(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  Spec spec{text.substr(0, colon), text.substr(colon + 1)};
  if (spec.folder.empty()) fail_usage("data spec '{}' names no folder", text);
  return spec;
}

std::string folder_of(const Spec& spec) {
  return spec.folder.empty() ? require_installed(spec.kind) : spec.folder;
}

std::string given_folder(const Spec& spec) {
  if (spec.folder.empty()) fail_usage("write '{}:DIR' to say which folder", spec.kind);
  return spec.folder;
}

void set_grey(Dataset& dataset, float mean, float std) {
  dataset.mean = {mean, mean, mean};
  dataset.std = {std, std, std};
}

Dataset open_mnist(const Spec& spec, Split split) {
  Dataset dataset = open_idx(folder_of(spec), split, kDigits);
  set_grey(dataset, 0.1307f, 0.3081f);
  return dataset;
}

Dataset open_fashion(const Spec& spec, Split split) {
  Dataset dataset = open_idx(folder_of(spec), split, kGarments);
  set_grey(dataset, 0.2860f, 0.3530f);
  dataset.mirrors = true;
  return dataset;
}

// `least`: pixels a side below which its shapes cannot be told apart.
void check_drawn(const Spec& spec, const DataRequest& request, int least) {
  if (!spec.folder.empty()) {
    fail_usage("'{}' is drawn, not read: leave out ':{}'", spec.kind, spec.folder);
  }
  if (request.size < least) {
    fail_usage("{} need{} at least {} pixels a side, not {}", spec.kind,
               spec.kind.back() == 's' ? "" : "s", least, request.size);
  }
}

Dataset open_shapes(const Spec& spec, const DataRequest& request) {
  check_drawn(spec, request, 8);
  return draw_shapes({request.size, request.seed}, request.split);
}

Dataset open_cue(const Spec& spec, const DataRequest& request) {
  check_drawn(spec, request, kSmallestCue);
  return open_cue(CueOptions{request.size, request.seed}, request.split);
}

constexpr double kHeldOut = 0.1;  // of a folder without val/, or of shards

bool validates_itself(const Spec& spec) {
  if (spec.kind == "folder") return has_validation(given_folder(spec));
  return spec.kind != "tar" || has_validation_shards(given_folder(spec));
}

double fraction_of(const Spec& spec, const DataRequest& request) {
  const double fraction = request.val_fraction;
  if (!(fraction >= 0 && fraction < 1)) {
    fail_usage("a validation fraction of {} must lie in [0, 1)", fraction);
  }
  return fraction > 0 || validates_itself(spec) ? fraction : kHeldOut;
}

Dataset open_source(const Spec& spec, const DataRequest& request) {
  if (spec.kind == "folder") {
    return open_folder(given_folder(spec), {request.split, request.strict, request.spare_index});
  }
  if (spec.kind == "tar") {
    return open_shards(given_folder(spec), {request.split, request.spare_index});
  }
  if (spec.kind == "idx") return open_idx(given_folder(spec), request.split);
  if (spec.kind == "cifar10") return open_cifar10(folder_of(spec), request.split);
  if (spec.kind == "mnist") return open_mnist(spec, request.split);
  if (spec.kind == "fashion-mnist") return open_fashion(spec, request.split);
  if (spec.kind == "shapes") return open_shapes(spec, request);
  if (spec.kind == "cue") return open_cue(spec, request);
  fail_usage(
      "unknown data '{}'{}; use cifar10, mnist, fashion-mnist, shapes, cue, folder:DIR, tar:DIR, "
      "idx:DIR",
      spec.kind,
      hint(spec.kind,
           {"cifar10", "mnist", "fashion-mnist", "shapes", "cue", "folder", "tar", "idx"}));
}

Dataset open_described(const Spec& spec, const DataRequest& request) {
  Dataset dataset = open_source(spec, request);
  dataset.name = request.spec;
  if (dataset.describe) return dataset;
  const char* split = request.split == Split::kTrain ? "train" : "val";
  const std::string prefix = fmt::format("{}/{}/", request.spec, split);
  dataset.describe = [prefix](int64_t index) { return prefix + std::to_string(index); };
  return dataset;
}

// Without a fraction to hold out, a set has validation pictures of its own.
Dataset open_split(DataRequest request) {
  const Spec spec = parse_spec(request.spec);
  const double fraction = fraction_of(spec, request);
  if (fraction == 0) return open_described(spec, request);
  const Split split = std::exchange(request.split, Split::kTrain);
  return held_out(open_described(spec, request), fraction, split);
}

}  // namespace

Dataset open_dataset(const DataRequest& request) {
  Dataset dataset = open_split(request);
  if (request.limit < 0) fail_usage("a limit of {} pictures; use 0 for all", request.limit);
  if (request.limit > 0) return limited(std::move(dataset), request.limit);
  return dataset;
}

Dataset limited(Dataset dataset, int64_t count) {
  if (count >= dataset.size()) return dataset;
  // At random, since folders are sorted by class.
  std::vector<int64_t> chosen = Random(0).permutation(dataset.size());
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
  return subset(std::move(dataset), std::move(chosen));
}

Dataset held_out(Dataset dataset, double fraction, Split split) {
  std::vector<int64_t> chosen =
      held_out_places(dataset.labels, dataset.class_count(), fraction, split == Split::kValidation);
  if (chosen.empty()) {
    fail("'{}' has one picture a class: nothing can be held out for validation", dataset.name);
  }
  dataset = subset(std::move(dataset), std::move(chosen));
  dataset.held_out = fraction;
  return dataset;
}

namespace {

// Where the shards begin among the chosen pictures; pictures in another order lie anywhere.
std::vector<int64_t> shards_of(const std::vector<int64_t>& chosen,
                               const std::vector<int64_t>& shards) {
  if (!std::is_sorted(chosen.begin(), chosen.end())) return {};
  std::vector<int64_t> begins;
  for (const int64_t first : shards) {
    begins.push_back(std::lower_bound(chosen.begin(), chosen.end(), first) - chosen.begin());
  }
  return begins;
}

}  // namespace

Dataset subset(Dataset dataset, std::vector<int64_t> indices) {
  auto chosen = std::make_shared<const std::vector<int64_t>>(std::move(indices));
  std::vector<int> labels;
  for (int64_t index : *chosen) labels.push_back(dataset.labels[index]);
  dataset.labels = std::move(labels);
  dataset.load = [chosen, load = std::move(dataset.load)](int64_t index) {
    return load((*chosen)[index]);
  };
  if (dataset.draw) {
    dataset.draw = [chosen, draw = std::move(dataset.draw)](int64_t index, int64_t epoch) {
      return draw((*chosen)[index], epoch);
    };
  }
  dataset.describe = [chosen, describe = std::move(dataset.describe)](int64_t index) {
    return describe((*chosen)[index]);
  };
  if (dataset.read) {
    dataset.read = [chosen, read = std::move(dataset.read)](int64_t index) {
      return read((*chosen)[index]);
    };
  }
  dataset.shards = shards_of(*chosen, dataset.shards);
  return dataset;
}

Preprocessing preprocessing_of(const Dataset& dataset, int size) {
  Preprocessing preprocessing;
  preprocessing.size = size;
  preprocessing.short_side = size * 10 / 9;  // floor(size / 0.9)
  preprocessing.mean = dataset.mean;
  preprocessing.std = dataset.std;
  return preprocessing;
}

Image fit(Image image, const Dataset& dataset, const Preprocessing& preprocessing) {
  const int size = preprocessing.size;
  if (dataset.native_size == 0) return evaluation_crop(image, preprocessing);
  if (image.width == size && image.height == size) return image;
  return resize(image, size, size, Filter::kBicubic);
}

}  // namespace soft
