#include "base/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace soft {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

int64_t system_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return 1024 * kilobytes;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnknown;
}

// ---- The process's own limits

// "Max address space   1073741824   unlimited   bytes": the first column after the label, which is
// the limit in force.
int64_t process_limit(const std::string& root, const std::string& label) {
  std::ifstream file(root + "/proc/self/limits");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, label.size(), label) != 0) continue;
    int64_t limit = kUnknown;
    const bool is_number =
        static_cast<bool>(std::istringstream(line.substr(label.size())) >> limit);
    return is_number ? limit : kUnknown;  // "unlimited" is no number
  }
  return kUnknown;
}

int64_t left(int64_t limit, int64_t used) {
  return limit == kUnknown ? kUnknown : std::max<int64_t>(limit - used, 0);
}

int64_t process_memory(const std::string& root) {
  std::ifstream file(root + "/proc/self/statm");  // in pages
  int64_t total = 0, resident = 0, shared = 0, text = 0, unused = 0, data = 0;
  file >> total >> resident >> shared >> text >> unused >> data;
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  return std::min(left(process_limit(root, "Max address space"), page * total),
                  left(process_limit(root, "Max data size"), page * data));
}

// ---- Control groups

// How the two versions name their files, and the lines of memory.stat that count what the kernel
// can take back without swapping.
struct GroupFiles {
  std::vector<const char*> limits;
  const char* used;
  std::vector<std::string> reclaimable;
};

const GroupFiles kVersion2{{"memory.max", "memory.high"},
                           "memory.current",
                           {"inactive_file", "active_file", "slab_reclaimable"}};
const GroupFiles kVersion1{{"memory.limit_in_bytes"},
                           "memory.usage_in_bytes",
                           {"total_inactive_file", "total_active_file"}};

int64_t number_in(const fs::path& path, int64_t otherwise) {
  int64_t value = 0;
  return std::ifstream(path) >> value ? value : otherwise;  // "max" is no number
}

int64_t reclaimable(const fs::path& group, const GroupFiles& files) {
  std::ifstream stat(group / "memory.stat");
  std::string key;
  int64_t sum = 0;
  for (int64_t value = 0; stat >> key >> value;) {
    const auto& counted = files.reclaimable;
    if (std::find(counted.begin(), counted.end(), key) != counted.end()) sum += value;
  }
  return sum;
}

int64_t left_in(const fs::path& group, const GroupFiles& files) {
  int64_t limit = kUnknown;
  for (const char* name : files.limits) limit = std::min(limit, number_in(group / name, kUnknown));
  if (limit == kUnknown) return kUnknown;
  const int64_t used = number_in(group / files.used, 0) - reclaimable(group, files);
  return left(limit, std::max<int64_t>(used, 0));
}

// A hierarchy of groups as this process sees it.
struct Hierarchy {
  const GroupFiles* files = nullptr;
  fs::path mount;      // a folder of /sys/fs/cgroup
  std::string within;  // the group that is visible there: "/", or a container's own
};

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// Of /proc/self/mountinfo: "31 23 0:26 ROOT MOUNT options … - cgroup2 source options".
std::vector<Hierarchy> hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line.substr(0, dash)), back(line.substr(dash + 3));
    std::string number, parent, device, within, mount, type, source, options;
    front >> number >> parent >> device >> within >> mount;
    back >> type >> source >> options;
    const bool second = type == "cgroup2";
    if (!second && (type != "cgroup" || !has_word(options, "memory"))) continue;
    found.push_back({second ? &kVersion2 : &kVersion1, root + mount, within});
  }
  return found;
}

// Of /proc/self/cgroup: "0::/path" for version 2, "4:memory:/path" for version 1.
std::string group_of_process(const std::string& root, const GroupFiles* version) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool matches =
        version == &kVersion2 ? controllers.empty() : has_word(controllers, "memory");
    if (matches) return line.substr(second + 1);
  }
  return "/";
}

// The process's group below the mount. A group that cannot be seen from here is the mount itself.
fs::path folder_of(const Hierarchy& hierarchy, std::string group) {
  const std::string& within = hierarchy.within;
  if (within != "/" && group.compare(0, within.size(), within) == 0) group.erase(0, within.size());
  const fs::path folder = (hierarchy.mount / fs::path(group).relative_path()).lexically_normal();
  const bool outside = group.find("..") != std::string::npos;
  std::error_code unreadable;
  return outside || !fs::is_directory(folder, unreadable) ? hierarchy.mount : folder;
}

// A group is limited by those around it, too.
int64_t group_memory(const std::string& root) {
  int64_t least = kUnknown;
  for (const Hierarchy& hierarchy : hierarchies(root)) {
    fs::path group = folder_of(hierarchy, group_of_process(root, hierarchy.files));
    if (!group.has_filename()) group = group.parent_path();  // a slash at the end
    while (group != hierarchy.mount && group.has_relative_path()) {
      least = std::min(least, left_in(group, *hierarchy.files));
      group = group.parent_path();
    }
    least = std::min(least, left_in(hierarchy.mount, *hierarchy.files));
  }
  return least;
}

}  // namespace

int64_t available_memory(const std::string& root) {
  return std::min({system_memory(root), process_memory(root), group_memory(root)});
}

std::string bytes_text(double bytes) {
  for (const char* unit : {"bytes", "kB", "MB", "GB", "TB"}) {
    if (bytes < 1000) return fmt::format("{:.1f} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.1f} PB", bytes);
}

}  // namespace soft
