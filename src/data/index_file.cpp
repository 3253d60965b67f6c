// The file: a first line, the entries, and the CRC-32 of all that.
#include "data/index_file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "data/packed.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFirstLine = "soft-index 1\n";
constexpr size_t kLargest = size_t{1} << 31;

// Clocks of file systems tick in steps of up to two seconds: what changed again within one step
// shows the same time.
constexpr int64_t kTick = 2'000'000'000;

uint32_t checksum(std::string_view bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Where several data sets keep their indexes, each has a name of its own.
std::string spare_name(const std::string& root) {
  std::error_code unknown;
  const fs::path place = fs::weakly_canonical(root, unknown);
  return fmt::format("{}-{:08x}", kIndexName, checksum(unknown ? root : place.string()));
}

}  // namespace

int64_t IndexFile::now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

IndexFile::IndexFile(std::string root, std::string spare) : root_(std::move(root)) {
  paths_.push_back(root_ + "/" + kIndexName);
  if (!spare.empty()) paths_.push_back(spare + "/" + spare_name(root_));
  for (const std::string& path : paths_) {
    std::error_code unknown;
    if (fs::is_regular_file(path, unknown)) read(path);
  }
}

bool IndexFile::look(Source& source) const {
  struct stat info {};
  if (::stat((root_ + "/" + source.path).c_str(), &info) != 0) return false;
  source.file = info.st_ino;
  source.changed = info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
  source.size = S_ISREG(info.st_mode) ? info.st_size : 0;  // a folder's says nothing
  return true;
}

bool IndexFile::holds(const Entry& entry) const {
  for (const Source& source : entry.sources) {
    Source today{source.path};
    if (!look(today) || today.file != source.file || today.changed != source.changed ||
        today.size != source.size || source.changed > entry.seen - kTick) {
      return false;
    }
  }
  return true;
}

const std::string_view* IndexFile::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && holds(found->second) ? &found->second.content : nullptr;
}

void IndexFile::put(const std::string& name, const std::vector<std::string>& sources, int64_t seen,
                    std::string content) {
  Entry entry{seen, {}, {}};
  for (const std::string& path : sources) {
    entry.sources.push_back({path});
    if (!look(entry.sources.back())) return;  // already gone
  }
  entry.content = blocks_.emplace_back(std::move(content));
  entries_[name] = std::move(entry);
  changed_ = true;
}

void IndexFile::read(const std::string& path) {
  try {
    blocks_.push_back(read_text(path, kLargest));
  } catch (const Error&) {
    return;  // as if it were not there
  }
  const std::string& bytes = blocks_.back();
  if (bytes.size() < kFirstLine.size() + 8 || bytes.rfind(kFirstLine, 0) != 0) return;
  const std::string_view all(bytes);
  const std::string_view checked = all.substr(0, all.size() - 8);
  if (PackedReader(all.substr(checked.size())).number() != checksum(checked)) return;
  PackedReader reader(checked.substr(kFirstLine.size()));
  std::map<std::string, Entry> entries;
  while (reader.ok() && !reader.at_end()) {
    Entry& entry = entries[std::string(reader.text())];
    entry.seen = reader.whole();
    for (uint64_t left = reader.number(); reader.ok() && left > 0; --left) {
      Source source{std::string(reader.text())};
      source.file = reader.number();
      source.changed = reader.whole();
      source.size = reader.whole();
      entry.sources.push_back(std::move(source));
    }
    entry.content = reader.text();
  }
  if (!reader.ok()) return;
  entries.merge(entries_);  // the spare one is the later where both are there
  entries_ = std::move(entries);
}

std::string IndexFile::packed(const std::string& name, const Entry& entry) {
  PackedWriter writer;
  writer.text(name);
  writer.number(static_cast<uint64_t>(entry.seen));
  writer.number(entry.sources.size());
  for (const Source& source : entry.sources) {
    writer.text(source.path);
    writer.number(source.file);
    writer.number(static_cast<uint64_t>(source.changed));
    writer.number(static_cast<uint64_t>(source.size));
  }
  writer.text(entry.content);
  return writer.take();
}

// Entry by entry: all of them are tens of megabytes.
bool IndexFile::write(const std::string& path) const {
  try {
    make_folder(fs::path(path).parent_path().string());
    write_atomically(path, [&](std::ostream& out) {
      uint32_t sum = checksum(kFirstLine);
      out << kFirstLine;
      for (const auto& [name, entry] : entries_) {
        const std::string bytes = packed(name, entry);
        sum = checksum(bytes, sum);
        out << bytes;
      }
      PackedWriter last;
      last.number(sum);
      out << last.take();
    });
    return true;
  } catch (const Error&) {
    return false;
  }
}

void IndexFile::save() {
  if (!std::exchange(changed_, false)) return;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = holds(entry->second) ? std::next(entry) : entries_.erase(entry);
  }
  if (entries_.empty()) return;
  for (const std::string& path : paths_) {
    if (write(path)) return;
  }
}

}  // namespace soft
