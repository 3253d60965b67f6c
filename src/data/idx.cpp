// The idx format of MNIST and its kin: a big-endian header (magic number, one count per dimension)
// and then bytes.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/log.h"
#include "data/gzip.h"
#include "data/source.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

// One of the two files of a split: what it holds and how its content begins.
struct Kind {
  const char* name;
  const char* format;
  uint32_t magic;
};
constexpr Kind kImages{"images", "idx3", 0x803};  // unsigned bytes, three dimensions
constexpr Kind kLabels{"labels", "idx1", 0x801};  // unsigned bytes, one dimension
constexpr uint32_t kMaxSide = 4096;

const char* prefix(Split split) { return split == Split::kTrain ? "train" : "t10k"; }

// Mirrors also have a dot in the middle of the name. "" when there is no such file.
std::string find_file(const std::string& folder, Split split, const Kind& kind) {
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      std::string path = fmt::format("{}/{}-{}{}{}-ubyte{}", folder, prefix(split), kind.name,
                                     separator, kind.format, ending);
      if (fs::is_regular_file(path)) return path;
    }
  }
  return "";
}

std::string require_file(const std::string& folder, Split split, const Kind& kind) {
  std::string path = find_file(folder, split, kind);
  if (path.empty()) {
    fail("no file '{}-{}-{}-ubyte' or '….gz' in '{}'", prefix(split), kind.name, kind.format,
         folder);
  }
  return path;
}

uint32_t read_number(GzipReader& reader) {
  const std::vector<uint8_t> bytes = reader.read(4);
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

void check_magic(GzipReader& reader, const Kind& kind) {
  const uint32_t magic = read_number(reader);
  if (magic != kind.magic) {
    fail("'{}' is not an {} file of {}: it starts with {:#010x}, not {:#010x}", reader.path(),
         kind.format, kind.name, magic, kind.magic);
  }
}

struct Pictures {
  int64_t count = 0;
  int width = 0;
  int height = 0;
  int side = 0;                // of the black square they are centred on
  std::vector<uint8_t> bytes;  // [count, height, width]

  Image image(int64_t index) const {
    Image image(side, side);
    const uint8_t* grey = bytes.data() + index * width * height;
    for (int y = 0; y < height; ++y) {
      uint8_t* out = image.pixel((side - width) / 2, (side - height) / 2 + y);
      for (int x = 0; x < width; ++x, out += 3) std::fill_n(out, 3, *grey++);
    }
    return image;
  }
};

// What the labels' file says about how many pictures there are.
struct Labels {
  std::string path;
  std::vector<int> values;
};

void check_count(const Labels& labels, size_t pictures) {
  if (labels.values.size() == pictures) return;
  fail("'{}' has {} labels for {} pictures", labels.path, labels.values.size(), pictures);
}

// Their number is compared before they are unpacked, which may take a thousand times the file's
// size.
Pictures read_pictures(const std::string& path, const Labels& labels) {
  GzipReader reader(path);
  check_magic(reader, kImages);
  const uint32_t count = read_number(reader);
  const uint32_t height = read_number(reader);
  const uint32_t width = read_number(reader);
  if (count == 0 || height == 0 || width == 0 || height > kMaxSide || width > kMaxSide) {
    fail("'{}' claims to hold {} pictures of {} x {} pixels", path, count, width, height);
  }
  check_count(labels, count);
  Pictures pictures{count, static_cast<int>(width), static_cast<int>(height), 0, {}};
  pictures.side = (std::max(pictures.width, pictures.height) + 31) / 32 * 32;
  pictures.bytes = reader.read(uint64_t{count} * height * width);
  reader.expect_end();
  return pictures;
}

std::vector<int> read_labels(const std::string& path) {
  GzipReader reader(path);
  check_magic(reader, kLabels);
  const std::vector<uint8_t> bytes = reader.read(read_number(reader));
  reader.expect_end();
  return {bytes.begin(), bytes.end()};
}

// Labels that no picture has: one line, however many they are.
void report_gaps(const std::string& folder, const std::vector<int>& labels, int highest) {
  std::vector<int64_t> counts(highest + 1);
  for (const int label : labels) ++counts[label];
  const auto missing = std::count(counts.begin(), counts.end(), 0);
  if (missing == 0) return;
  const auto first = std::find(counts.begin(), counts.end(), 0) - counts.begin();
  log_once(fmt::format("'{}': {} of the labels 0 to {} have no picture{} {}", folder, missing,
                       highest, missing == 1 ? ":" : ", the first:", first));
}

// Labels name themselves. The training labels decide how many there are, where they exist.
std::vector<std::string> numbered_classes(const std::string& folder, std::vector<int> labels) {
  const std::string training = find_file(folder, Split::kTrain, kLabels);
  if (!training.empty()) labels = read_labels(training);
  std::vector<std::string> classes;
  if (labels.empty()) return classes;
  const int highest = *std::max_element(labels.begin(), labels.end());
  for (int label = 0; label <= highest; ++label) classes.push_back(std::to_string(label));
  report_gaps(folder, labels, highest);
  return classes;
}

void check_labels(const Labels& labels, size_t classes) {
  const auto& values = labels.values;
  const auto beyond = [&](int label) { return label >= static_cast<int>(classes); };
  const auto first = std::find_if(values.begin(), values.end(), beyond);
  if (first == values.end()) return;
  fail("'{}': {} of {} labels are beyond the {} classes; the first: picture {} has label {}",
       labels.path, std::count_if(first, values.end(), beyond), values.size(), classes,
       first - values.begin(), *first);
}

}  // namespace

Dataset open_idx(const std::string& folder, Split split, std::vector<std::string> classes) {
  Labels labels{require_file(folder, split, kLabels), {}};
  const std::string images = require_file(folder, split, kImages);
  labels.values = read_labels(labels.path);
  auto pictures = std::make_shared<Pictures>(read_pictures(images, labels));
  Dataset dataset;
  dataset.classes = classes.empty() ? numbered_classes(folder, labels.values) : std::move(classes);
  check_labels(labels, dataset.classes.size());
  dataset.labels = std::move(labels.values);
  dataset.native_size = pictures->side;
  dataset.mirrors = false;  // as far as anyone knows, they are characters
  dataset.load = [pictures](int64_t index) { return pictures->image(index); };
  return dataset;
}

}  // namespace soft
