// Files: read-only memory maps, and writes that appear whole or not at all (write_file.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace soft {

// A file mapped read-only. Movable, not copyable; unmapped on destruction.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Drops the resident pages (they come back from disk when touched again).
  void release_pages() const;

 private:
  std::string path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

std::string read_text(const std::string& path, size_t limit = size_t{64} << 20);

struct FileWriter {
  std::string path;
  std::function<void(std::ostream&)> write;
};

// Lets each `write` fill a temporary file beside its path, syncs all to disk and only then renames
// them into place. What is promised:
//   * each path has its whole old or its whole new content at every moment, whatever happens (of
//     several, where the file system has no hard links, nothing for a moment);
//   * when anything fails, the last rename included, every path has its old content again (or is
//     absent again), no temporary file stays, and an Error says why;
//   * a kill or a power cut between two renames leaves the first paths new and the others old:
//     POSIX renames one path at a time. A reader that needs them of one kind must check it.
// Links stay and lead to the new content; devices and pipes are written to, and what they have
// taken cannot be taken back. New files have the permissions that the umask leaves.
void write_atomically(const std::vector<FileWriter>& files);
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

// Makes a folder and those above it where they are missing.
void make_folder(const std::string& path);

// Removes the temporary files that writers killed in mid-write left in a folder.
void remove_leftovers(const std::string& folder);

// The folder of the running program, for what is installed or built beside it.
std::string program_folder();

}  // namespace soft
