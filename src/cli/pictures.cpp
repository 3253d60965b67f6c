#include "cli/pictures.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "facade/input.h"
#include "image/codec.h"
#include "image/picture_file.h"

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTogether = 8;

using Pictures = std::vector<Picture>;

// What a walk finds. Links to folders are not followed. A folder that cannot be listed becomes an
// entry that says so.
struct Walk {
  bool strict;
  Pictures pictures;
  Skipped skipped;

  void add_folder(const fs::path& folder);
  void add_file(const std::string& path) {
    if (strict || is_picture_file(path)) {
      pictures.push_back({path, ""});
    } else {
      skipped.add(path);
    }
  }
};

void Walk::add_folder(const fs::path& folder) {
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    const fs::file_type type = at->status(ignored).type();
    if (type == fs::file_type::directory && !at->is_symlink(ignored)) {
      add_folder(at->path());
    } else if (type == fs::file_type::regular || type == fs::file_type::none) {
      add_file(at->path().string());  // none, as of a link to itself: not readable
    }
  }
  if (code) {
    pictures.push_back(
        {folder.string(), fmt::format("cannot list '{}': {}", folder.string(), code.message())});
  }
}

Pictures pictures_below(const std::string& folder, bool strict) {
  Walk walk{strict, {}, {}};
  walk.add_folder(folder);
  if (walk.skipped.count > 0) log_line(walk.skipped.notice(folder));
  if (walk.pictures.empty()) {
    walk.pictures.push_back({folder, fmt::format("there is no picture in '{}'", folder)});
  }
  std::sort(walk.pictures.begin(), walk.pictures.end(),
            [](const Picture& a, const Picture& b) { return a.file < b.file; });
  return std::move(walk.pictures);
}

// [3, size, size]; empty when the picture cannot be read.
std::vector<float> read_pixels(Picture& picture, const Preprocessing& preprocessing) {
  if (!picture.error.empty()) return {};
  try {
    return prepared(read_upright(picture.file), preprocessing);
  } catch (const Error& error) {
    picture.error = error.what();
    return {};
  }
}

PictureBatch read_batch(const Pictures& pictures, const Preprocessing& preprocessing) {
  PictureBatch batch;
  batch.entries = pictures;
  std::vector<std::vector<float>> read(pictures.size());
  parallel_for(static_cast<int64_t>(pictures.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) read[i] = read_pixels(batch.entries[i], preprocessing);
  });
  for (const auto& pixels : read) {
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

std::vector<Picture> find_pictures(const std::vector<std::string>& inputs, bool strict) {
  Pictures pictures;
  for (const std::string& input : inputs) {
    std::error_code ignored;  // reading the file will say what is wrong with it
    if (input == "-" || !fs::is_directory(input, ignored)) {
      pictures.push_back({input, ""});
      continue;
    }
    const Pictures inside = pictures_below(input, strict);
    pictures.insert(pictures.end(), inside.begin(), inside.end());
  }
  return pictures;
}

void each_batch(const std::vector<Picture>& pictures, const Preprocessing& preprocessing,
                const std::function<void(const PictureBatch&)>& use) {
  for (size_t first = 0; first < pictures.size(); first += kTogether) {
    const auto begin = pictures.begin() + static_cast<ptrdiff_t>(first);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(kTogether, pictures.size() - first));
    use(read_batch({begin, end}, preprocessing));
  }
}

}  // namespace soft
