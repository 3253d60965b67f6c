#include "kernels/machine.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <oneapi/dnnl/dnnl.hpp>
#include <sstream>

namespace soft {
namespace {

// The vector extensions worth telling, as Linux names them on x86 and on Arm.
constexpr const char* kExtensions[] = {
    "sse4_1",   "sse4_2",      "avx",         "f16c",     "fma",      "avx2",  "avx512f",
    "avx512bw", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "asimd", "sve"};

// The value of the first "key : value" line of /proc/cpuinfo with one of these keys.
std::string cpuinfo(const std::vector<std::string>& keys) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) return line.substr(colon + 2);
  }
  return "";
}

std::vector<std::string> vector_extensions() {
  std::istringstream text(cpuinfo({"flags", "Features"}));
  const std::vector<std::string> flags{std::istream_iterator<std::string>(text), {}};
  std::vector<std::string> known;
  for (const char* extension : kExtensions) {
    if (std::find(flags.begin(), flags.end(), extension) != flags.end()) known.push_back(extension);
  }
  return known;
}

// Highway numbers its targets so that the best one has the lowest bit.
std::string best_highway_target() {
  const auto supported = static_cast<uint64_t>(hwy::SupportedTargets());
  return hwy::TargetName(static_cast<uint32_t>(supported & (~supported + 1)));
}

std::string onednn_target() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
      return "SSE4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 BF16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AMX";
    default:
      return "its default";
  }
}

}  // namespace

Machine describe_machine() {
  const dnnl_version_t* onednn = dnnl::version();
  std::string cpu = cpuinfo({"model name", "Model"});
  return {cpu.empty() ? "unknown" : cpu, vector_extensions(), best_highway_target(),
          fmt::format("{}.{}.{}", onednn->major, onednn->minor, onednn->patch), onednn_target()};
}

}  // namespace soft
