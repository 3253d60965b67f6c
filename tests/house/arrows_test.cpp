// Rooms may include only what the floor plan (docs/architecture.md) lets them include.
#include <map>
#include <regex>
#include <set>

#include "house/source.h"
#include "support/support.h"

namespace soft {
namespace {

using test::Source;
using Rooms = std::set<std::string>;

const Rooms kTorchRooms{"attention", "model", "group", "train", "ops", "torch wing"};

// clang-format off
const std::map<std::string, Rooms> kArrows{
    {"base",       {}},
    {"kernels",    {"base"}},
    {"spec",       {"base", "kernels"}},
    {"describe",   {"base", "spec"}},
    {"plot",       {"base"}},
    {"image",      {"base", "kernels"}},
    {"weights",    {"base", "spec", "describe"}},
    {"data",       {"base", "image"}},
    {"metric",     {"base", "data"}},
    {"rank",       {"base"}},
    {"engine",     {"base", "spec", "describe", "weights", "image", "kernels"}},
    {"wing",       {"base", "spec", "describe", "weights", "engine", "rank"}},
    {"export",     {"base", "spec", "describe", "kernels", "weights", "wing"}},
    {"facade",     {"base", "spec", "describe", "weights", "image", "data", "engine", "wing"}},
    {"api",        {"base", "spec", "describe", "image", "metric", "engine", "facade"}},
    {"python",     {}},  // the public face alone
    {"serve",      {"base", "image", "spec", "describe", "metric", "engine", "facade"}},
    {"study",      {"base", "spec", "describe", "plot", "image", "data", "engine"}},
    {"attention",  {"base", "spec", "describe", "kernels"}},
    {"model",      {"base", "spec", "describe", "kernels", "weights", "attention"}},
    {"group",      {"base", "rank", "attention"}},
    {"train",      {"base", "kernels", "spec", "describe", "weights", "data", "metric", "attention",
                    "model", "rank", "group", "wing"}},
    {"ops",        {"base", "spec", "attention"}},
    {"torch wing", {"base", "spec", "describe", "weights", "engine", "wing", "attention", "model", "rank",
                    "group", "train"}},
    {"cli",        {"base", "kernels", "spec", "describe", "plot", "image", "weights", "data", "metric",
                    "engine", "rank", "wing", "export", "facade", "serve", "study"}},
    {"",           {"base", "cli"}},  // main.cpp
};
// clang-format on

// wing/torch_* is the far side of the door: it belongs to the library that links LibTorch.
std::string room_of(const Source& source) {
  return source.path.rfind("wing/torch_", 0) == 0 ? "torch wing" : source.room();
}

bool includes_torch(const std::string& line) {
  static const std::regex pattern(R"(^\s*#\s*include\s*<(torch|ATen|c10|caffe2)/)");
  return std::regex_search(line, pattern);
}

bool has_vector_code(const std::string& line) {
  static const std::regex pattern(
      R"(immintrin\.h|arm_neon\.h|hwy/highway\.h|\b_mm\d*_\w+|\bv(ld|st)1q_)");
  return std::regex_search(line, pattern);
}

// Its names would meet those of the house; error.h and version.h are the house's own, too.
bool includes_public_face(const std::string& line) {
  return line.find("#include \"soft/soft.h\"") != std::string::npos;
}

// The room a line includes from; "" for anything that is not one of ours.
std::string room_included(const std::string& line) {
  static const std::regex pattern(R"(^\s*#\s*include\s*"([a-z]+)/)");
  std::smatch match;
  const bool found = std::regex_search(line, match, pattern);
  return found && kArrows.count(match[1]) > 0 ? match[1].str() : "";
}

std::string complaint_about(const std::string& room, const std::string& line) {
  const std::string target = room_included(line);  // a library's folder when it is no room of ours
  const bool ours = !target.empty() && kArrows.count(target) > 0;
  if (ours && target != room && kArrows.at(room).count(target) == 0) {
    return "new arrow " + room + " -> " + target;
  }
  if (includes_torch(line) && kTorchRooms.count(room) == 0) return "LibTorch in a light room";
  if (has_vector_code(line) && room != "kernels") return "vector code outside kernels";
  if (includes_public_face(line) && room != "api") return "the public face inside the house";
  return "";
}

std::vector<std::string> complaints_about(const std::string& root) {
  std::vector<std::string> complaints;
  for (const Source& source : test::sources_below(root)) {
    const std::string room = room_of(source);
    if (kArrows.count(room) == 0) {
      complaints.push_back(source.path + ": unknown room");
      continue;
    }
    for (const std::string& line : source.lines) {
      const std::string complaint = complaint_about(room, line);
      if (!complaint.empty()) complaints.push_back(source.path + ": " + complaint);
    }
  }
  return complaints;
}

TEST(Arrows, RoomsIncludeOnlyWhatTheFloorPlanAllows) {
  EXPECT_THAT(complaints_about(SOFT_SOURCE_DIR "/src"), testing::IsEmpty());
}

TEST(Arrows, TheFloorPlanHasNoCircle) {
  Rooms settled;
  for (size_t round = 0; round < kArrows.size(); ++round) {
    for (const auto& [room, targets] : kArrows) {
      const bool ready =
          std::includes(settled.begin(), settled.end(), targets.begin(), targets.end());
      if (ready) settled.insert(room);
    }
  }
  EXPECT_EQ(settled.size(), kArrows.size());
}

TEST(Arrows, AForbiddenIncludeIsNoticed) {
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.path(file)).parent_path());
    test::write_file(folder.path(file), text);
  };
  write("base/a.h", "#include \"spec/names.h\"\n");
  write("cli/b.cpp", "#include \"base/a.h\"\n#include <torch/torch.h>\n");
  write("image/c.cpp", "auto x = _mm256_setzero_ps();\n");
  write("utils/d.cpp", "\n");
  write("kernels/e.cpp", "#include <hwy/highway.h>\n");
  write("serve/f.cpp", "#include \"soft/error.h\"\n#include \"soft/soft.h\"\n");
  EXPECT_THAT(complaints_about(folder.path()),
              testing::ElementsAre(
                  "base/a.h: new arrow base -> spec", "cli/b.cpp: LibTorch in a light room",
                  "image/c.cpp: vector code outside kernels",
                  "serve/f.cpp: the public face inside the house", "utils/d.cpp: unknown room"));
}

}  // namespace
}  // namespace soft
