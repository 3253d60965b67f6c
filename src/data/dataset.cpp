#include "data/dataset.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "base/random.h"
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

Dataset open_shapes(const Spec& spec, const DataRequest& request) {
  if (!spec.folder.empty()) fail_usage("'shapes' is drawn, not read: leave out ':{}'", spec.folder);
  if (request.size < 8) fail_usage("shapes need at least 8 pixels a side, not {}", request.size);
  return draw_shapes({request.size, request.seed}, request.split);
}

Dataset open_source(const Spec& spec, const DataRequest& request) {
  if (spec.kind == "folder") return open_folder(given_folder(spec), request.split, request.strict);
  if (spec.kind == "idx") return open_idx(given_folder(spec), request.split);
  if (spec.kind == "cifar10") return open_cifar10(folder_of(spec), request.split);
  if (spec.kind == "mnist") return open_mnist(spec, request.split);
  if (spec.kind == "fashion-mnist") return open_fashion(spec, request.split);
  if (spec.kind == "shapes") return open_shapes(spec, request);
  fail_usage("unknown data '{}'{}; use cifar10, mnist, fashion-mnist, shapes, folder:DIR, idx:DIR",
             spec.kind,
             hint(spec.kind, {"cifar10", "mnist", "fashion-mnist", "shapes", "folder", "idx"}));
}

}  // namespace

Dataset open_dataset(const DataRequest& request) {
  Dataset dataset = open_source(parse_spec(request.spec), request);
  dataset.name = request.spec;
  if (!dataset.describe) {
    const char* split = request.split == Split::kTrain ? "train" : "val";
    const std::string prefix = fmt::format("{}/{}/", request.spec, split);
    dataset.describe = [prefix](int64_t index) { return prefix + std::to_string(index); };
  }
  if (request.limit < 0) fail_usage("a limit of {} pictures; use 0 for all", request.limit);
  if (request.limit > 0) return limited(std::move(dataset), request.limit);
  return dataset;
}

Dataset limited(Dataset dataset, int64_t count) {
  if (count >= dataset.size()) return dataset;
  // At random, since folders are sorted by class.
  auto chosen = std::make_shared<std::vector<int64_t>>(Random(0).permutation(dataset.size()));
  chosen->resize(count);
  std::sort(chosen->begin(), chosen->end());
  std::vector<int> labels;
  for (int64_t index : *chosen) labels.push_back(dataset.labels[index]);
  dataset.labels = std::move(labels);
  dataset.load = [chosen, load = std::move(dataset.load)](int64_t index) {
    return load((*chosen)[index]);
  };
  dataset.describe = [chosen, describe = std::move(dataset.describe)](int64_t index) {
    return describe((*chosen)[index]);
  };
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
