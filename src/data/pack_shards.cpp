#include "data/pack_shards.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random.h"
#include "data/index_file.h"
#include "data/shard_listing.h"
#include "data/tar_writer.h"
#include "data/work_folder.h"
#include "image/codec.h"
#include "image/picture_file.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLongestStem = 60;

// The content and the name of one picture's file, as the shard has them.
struct Picture {
  std::string key;
  std::string ending;
  std::string bytes;
  int label = 0;

  // With headers and all, in the archive.
  int64_t packed_size() const { return static_cast<int64_t>(bytes.size()) + 4 * 512; }
};

// The number makes it unique; the rest is for people who look for the file.
std::string key_of(int64_t number, const std::string& path) {
  std::string stem = fs::path(path).stem().string().substr(0, kLongestStem);
  for (char& c : stem) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return fmt::format("{:08}-{}", number, stem);
}

// The file's own where it has one; what it really is shows in its content anyway.
std::string ending_of(const std::string& path) {
  std::string ending = has_picture_ending(path) ? fs::path(path).extension().string() : ".jpg";
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

Picture picture_of(const Dataset& dataset, int64_t index) {
  const std::string path = dataset.describe(index);
  const std::vector<uint8_t> bytes =
      dataset.read ? dataset.read(index) : encode_png(dataset.load(index));
  return {key_of(index, path), dataset.read ? ending_of(path) : ".png",
          std::string(bytes.begin(), bytes.end()), dataset.labels[index]};
}

int64_t write_picture(std::ostream& out, const Picture& picture) {
  return write_tar_member(out, picture.key + ".cls", std::to_string(picture.label)) +
         write_tar_member(out, picture.key + picture.ending, picture.bytes);
}

// One split's shards. Pictures come in random order: folders are sorted by class, and a reader
// mixes no more than its buffer holds.
class Packer {
 public:
  Packer(const Dataset& dataset, std::string prefix, int64_t size)
      : dataset_(dataset),
        prefix_(std::move(prefix)),
        size_(size),
        order_(Random(0).permutation(dataset.size())) {}

  PackedShards pack(const fs::path& folder, IndexFile& index) {
    for (int64_t number = 0; fill(); ++number) {
      const std::string name = fmt::format("{}-{:06}.tar", prefix_, number);
      const std::string path = (folder / name).string();
      write_atomically(path, [&](std::ostream& out) { write_shard(out); });
      index.put(name, {name}, IndexFile::kSettled, soft::pack(list_shard(path)));
      log("{}: {} of {} pictures", name, packed_.pictures, dataset_.size());
      ++packed_.shards;
    }
    return packed_;
  }

 private:
  // Reads the next picture that can be read; false after the last one.
  bool fill() {
    for (; pending_.key.empty() && next_ < dataset_.size(); ++next_) {
      try {
        pending_ = picture_of(dataset_, order_[next_]);
      } catch (const Error& error) {
        log("{}; left out", error.what());
      }
    }
    return !pending_.key.empty();
  }

  void write_shard(std::ostream& out) {
    int64_t written = 2 * 512;  // the end of the archive
    do {
      written += write_picture(out, pending_);
      pending_ = {};
      ++packed_.pictures;
    } while (fill() && written + pending_.packed_size() <= size_);
    write_tar_end(out);
    packed_.bytes += written;
  }

  const Dataset& dataset_;
  const std::string prefix_;
  const int64_t size_;
  const std::vector<int64_t> order_;
  int64_t next_ = 0;  // in the order
  Picture pending_;   // read and not yet written
  PackedShards packed_;
};

void check_empty(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".tar") continue;
    fail("'{}' already has shards ('{}'); remove them or choose another folder", folder.string(),
         entry.path().filename().string());
  }
}

void write_classes(const fs::path& file, std::vector<std::string> classes) {
  write_atomically(file.string(), [&](std::ostream& out) {
    for (size_t i = 0; i < classes.size(); ++i) {
      std::replace(classes[i].begin(), classes[i].end(), '\n', ' ');
      out << i << ' ' << classes[i] << '\n';
    }
  });
}

// The archives first: what describes them must not describe others.
void move_into_place(const fs::path& from, const fs::path& to) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from)) files.push_back(entry.path().filename());
  std::stable_partition(files.begin(), files.end(),
                        [](const fs::path& file) { return file.extension() == ".tar"; });
  for (const fs::path& file : files) fs::rename(from / file, to / file);
}

}  // namespace

PackedShards pack_shards(const Dataset& train, const Dataset& val, const std::string& folder,
                         int64_t size) {
  try {
    check_empty(folder);
    const WorkFolder work(folder, ".packing");
    IndexFile index(work.path().string(), "");
    PackedShards all = Packer(train, "train", size).pack(work.path(), index);
    const PackedShards more = Packer(val, "val", size).pack(work.path(), index);
    write_classes(work.path() / "classes.txt", train.classes);
    index.save();
    move_into_place(work.path(), folder);
    return {all.shards + more.shards, all.pictures + more.pictures, all.bytes + more.bytes};
  } catch (const fs::filesystem_error& error) {
    fail("cannot write shards to '{}': {}", folder, error.code().message());
  }
}

}  // namespace soft
