#include "data/sequence.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/random.h"
#include "data/held_out.h"
#include "data/installed.h"
#include "data/sequence_source.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

constexpr double kHeldOut = 0.1;  // of each class of a set that is not divided

struct Spec {
  std::string kind, path;
};

Spec parse_spec(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  if (colon + 1 == text.size()) fail_usage("data spec '{}' names no file or folder", text);
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string given(const Spec& spec, const char* what) {
  if (spec.path.empty()) fail_usage("write '{}:{}' to say where the texts are", spec.kind, what);
  return spec.path;
}

std::string path_of(const Spec& spec) {
  return spec.path.empty() ? require_installed(spec.kind == "cifar10-grey" ? "cifar10" : spec.kind)
                           : spec.path;
}

std::string listops_file(const std::string& folder, SequencePart part) {
  const char* name = part == SequencePart::kTrain ? "train"
                     : part == SequencePart::kDev ? "val"
                                                  : "test";
  return fmt::format("{}/basic_{}.tsv", folder, name);
}

// The one file whose name ends with ".train.tsv", ".eval.tsv" or ".test.tsv".
std::string pairs_file(const std::string& folder, SequencePart part) {
  const std::string ending = part == SequencePart::kTrain ? ".train.tsv"
                             : part == SequencePart::kDev ? ".eval.tsv"
                                                          : ".test.tsv";
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (path.size() > ending.size() &&
        path.compare(path.size() - ending.size(), ending.size(), ending) == 0) {
      found.push_back(path);
    }
  }
  if (found.size() == 1) return found[0];
  fail("{} file(s) '*{}' in '{}'; one is needed, e.g. new_aan_pairs{}", found.size(), ending,
       folder, ending);
}

bool is_archive(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// IMDb's folder is looked for in the one that is given, too: archives unpack to aclImdb/.
SequenceSet open_reviews(const std::string& path, const SequenceRequest& request) {
  if (is_archive(path)) return open_text_archive(path, request.part, request.length);
  const fs::path archive = fs::path(path) / "aclImdb.tar.gz";
  const fs::path inner = fs::path(path) / "aclImdb";
  if (fs::is_directory(inner)) return open_text_folder(inner, request.part, request.length);
  if (!fs::is_directory(fs::path(path) / "train") && is_archive(archive)) {
    return open_text_archive(archive, request.part, request.length);
  }
  return open_text_folder(path, request.part, request.length);
}

SequenceSet open_source(const Spec& spec, const SequenceRequest& request) {
  if (spec.kind == "listops") {
    return open_listops(listops_file(path_of(spec), request.part), request.length);
  }
  if (spec.kind == "imdb") return open_reviews(path_of(spec), request);
  if (spec.kind == "aan") {
    return open_pairs(pairs_file(path_of(spec), request.part), request.length);
  }
  if (spec.kind == "cifar10-grey") {
    return open_grey_pixels(path_of(spec), request.part, request.black_is_padding);
  }
  if (spec.kind == "text") {
    return open_text_folder(given(spec, "DIR"), request.part, request.length);
  }
  if (spec.kind == "tsv") return open_text_lines(given(spec, "FILE"), request.length);
  fail_usage("unknown sequences '{}'{}; use listops, imdb, aan, cifar10-grey, text:DIR, tsv:FILE",
             spec.kind, hint(spec.kind, {"listops", "imdb", "aan", "cifar10-grey", "text", "tsv"}));
}

SequenceSet hold_out(SequenceSet set, SequencePart part) {
  std::vector<int64_t> chosen =
      held_out_places(set.labels, set.class_count(), kHeldOut, part != SequencePart::kTrain);
  if (chosen.empty()) fail("'{}' has one text a class: nothing can be held out", set.name);
  set.shared = true;
  return subset(std::move(set), std::move(chosen));
}

SequenceSet limited(SequenceSet set, int64_t count) {
  if (count >= set.size()) return set;
  std::vector<int64_t> chosen = Random(0).permutation(set.size());
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
  return subset(std::move(set), std::move(chosen));
}

}  // namespace

SequenceSet open_sequences(const SequenceRequest& request) {
  if (request.length < 1) fail_usage("sequences of {} tokens; use at least 1", request.length);
  if (request.limit < 0) fail_usage("a limit of {} examples; use 0 for all", request.limit);
  SequenceSet set = open_source(parse_spec(request.spec), request);
  set.name = request.spec;
  set.length = request.length;
  if (set.vocabulary == 0) set.vocabulary = kByteVocabulary;
  if (set.cut > 0) {
    log_once(fmt::format("'{}': {} of {} sequences are longer than {} tokens and are cut",
                         request.spec, set.cut, set.size() * set.sides, request.length));
  }
  if (!set.divided) set = hold_out(std::move(set), request.part);
  return request.limit > 0 ? limited(std::move(set), request.limit) : set;
}

SequenceSet subset(SequenceSet set, std::vector<int64_t> indices) {
  auto chosen = std::make_shared<const std::vector<int64_t>>(std::move(indices));
  std::vector<int> labels;
  labels.reserve(chosen->size());
  for (int64_t index : *chosen) labels.push_back(set.labels[index]);
  set.labels = std::move(labels);
  set.load = [chosen, load = std::move(set.load)](int64_t index, int side) {
    return load((*chosen)[index], side);
  };
  set.describe = [chosen, describe = std::move(set.describe)](int64_t index) {
    return describe((*chosen)[index]);
  };
  return set;
}

double best_constant(const SequenceSet& set) {
  std::vector<int64_t> counts(set.classes.size());
  for (int label : set.labels) ++counts[label];
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  return 100 * most / static_cast<double>(set.size());
}

std::vector<int32_t> byte_tokens(std::string_view text, int64_t length) {
  const size_t count = std::min(text.size(), static_cast<size_t>(length));
  std::vector<int32_t> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = static_cast<uint8_t>(text[i]) + 1;
  return tokens;
}

}  // namespace soft
