#include "cli/pictures.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/parallel.h"
#include "image/codec.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBatch = 8;

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  } catch (const fs::filesystem_error& error) {
    fail("cannot list '{}': {}", folder, error.code().message());
  }
  if (files.empty()) fail("there is no file in '{}'", folder);
  std::sort(files.begin(), files.end());
  return files;
}

// [3, size, size]; empty when the picture cannot be read.
std::vector<float> read_pixels(PictureBatch::Entry& entry, const Preprocessing& preprocessing) {
  try {
    const Image image = evaluation_crop(read_upright(entry.file), preprocessing);
    std::vector<float> pixels(image.rgb.size());
    normalise(image, preprocessing, pixels.data());
    return pixels;
  } catch (const Error& error) {
    entry.error = error.what();
    return {};
  }
}

PictureBatch read_batch(const std::vector<std::string>& files, const Preprocessing& preprocessing) {
  PictureBatch batch;
  for (const std::string& file : files) batch.entries.push_back({file, ""});
  std::vector<std::vector<float>> pictures(files.size());
  parallel_for(static_cast<int64_t>(files.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      pictures[i] = read_pixels(batch.entries[i], preprocessing);
    }
  });
  for (const auto& pixels : pictures) {
    batch.pixels.insert(batch.pixels.end(), pixels.begin(), pixels.end());
    if (!pixels.empty()) ++batch.count;
  }
  return batch;
}

}  // namespace

Image read_upright(const std::string& file) {
  if (file != "-") return read_image(file, {true});
  const std::string bytes(std::istreambuf_iterator<char>(std::cin), {});
  return decode_image(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "stdin",
                      {true});
}

std::vector<std::string> picture_files(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    if (input == "-" || !fs::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    const auto inside = files_below(input);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

void each_batch(const std::vector<std::string>& files, const Preprocessing& preprocessing,
                const std::function<void(const PictureBatch&)>& use) {
  for (size_t first = 0; first < files.size(); first += kBatch) {
    const auto begin = files.begin() + static_cast<ptrdiff_t>(first);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(kBatch, files.size() - first));
    use(read_batch({begin, end}, preprocessing));
  }
}

}  // namespace soft
