// Files: read whole, and writes that appear whole or not at all (write_file.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace soft {

// A regular file, whole; one that shrinks meanwhile, or holds more than `limit`, is an Error.
std::vector<uint8_t> read_bytes(const std::string& path, size_t limit = SIZE_MAX);
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

// The folder of the library that this is in, for what is installed or built beside it.
std::string library_folder();

}  // namespace soft
