#include "rank/place.h"

#include <cstdlib>

#include "base/error.h"
#include "base/setting.h"

namespace soft {
namespace {

constexpr const char* kHere = "127.0.0.1";

struct Reader {
  const Environment& environment;

  std::optional<std::string> text(const char* name) const {
    const auto value = environment(name);
    return value && !value->empty() ? value : std::nullopt;
  }
  std::optional<int> number(const char* name) const {
    const auto value = text(name);
    return value ? std::optional<int>(parse_whole<int>(name, *value)) : std::nullopt;
  }
  int needed(const char* name, const char* because) const {
    const auto value = number(name);
    if (!value) fail_usage("{} is set, but {} is not: set both, or neither", because, name);
    return *value;
  }
};

void check(const RankPlace& place) {
  if (place.world < 1 || place.rank < 0 || place.rank >= place.world) {
    fail_usage("rank {} of {} does not exist: ranks count from 0 (RANK, WORLD_SIZE)", place.rank,
               place.world);
  }
  if (place.port < 1 || place.port > 65535) {
    fail_usage("MASTER_PORT={} is no port: 1 to 65535", place.port);
  }
  if (place.master.empty()) {
    fail_usage("{} ranks, but nobody says where rank 0 is: set MASTER_ADDR to its host",
               place.world);
  }
}

// torchrun keeps a store of its own on the master's port; its workers share it.
void read_torchrun(const Reader& read, RankPlace& place) {
  if (read.text("TORCHELASTIC_USE_AGENT_STORE").value_or("") != "True") return;
  place.stores = true;
  place.prefix = "attempt_" + read.text("TORCHELASTIC_RESTART_COUNT").value_or("0");
}

// srun gives each task its number; a batch script that only holds an allocation has no step.
bool read_slurm(const Reader& read, RankPlace& place) {
  const auto world = read.number("SLURM_STEP_NUM_TASKS");
  if (!world) return false;
  place.world = *world;
  place.rank = read.needed("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  place.local_rank = read.number("SLURM_LOCALID").value_or(0);
  const auto hosts = read.text("SLURM_STEP_NODELIST");
  place.master = hosts ? first_host(*hosts) : "";
  // Two jobs on one machine must not meet.
  place.port = 15000 + read.number("SLURM_JOB_ID").value_or(0) % 10000;
  return true;
}

bool read_open_mpi(const Reader& read, RankPlace& place) {
  const auto world = read.number("OMPI_COMM_WORLD_SIZE");
  if (!world) return false;
  place.world = *world;
  place.rank = read.needed("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  place.local_rank = read.number("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0);
  if (read.number("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(0) == *world) place.master = kHere;
  return true;
}

bool read_plain(const Reader& read, RankPlace& place) {
  const auto rank = read.number("RANK"), world = read.number("WORLD_SIZE");
  if (!rank && !world) return false;
  place.rank = read.needed("RANK", "WORLD_SIZE");
  place.world = read.needed("WORLD_SIZE", "RANK");
  place.local_rank = read.number("LOCAL_RANK").value_or(place.rank);
  read_torchrun(read, place);
  return true;
}

}  // namespace

std::string first_host(const std::string& list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const size_t number = list.find_first_of(",-]", bracket);
  if (number == std::string::npos) fail_usage("'{}' is no list of hosts", list);
  return list.substr(0, bracket) + list.substr(bracket + 1, number - bracket - 1);
}

RankPlace place_from(const Environment& environment) {
  const Reader read{environment};
  RankPlace place;
  place.grouped = read_plain(read, place) || read_slurm(read, place) || read_open_mpi(read, place);
  if (!place.grouped) return place;
  if (const auto master = read.text("MASTER_ADDR")) place.master = *master;
  if (place.master.empty() && place.world == 1) place.master = kHere;
  place.port = read.number("MASTER_PORT").value_or(place.port);
  check(place);
  return place;
}

RankPlace place_of_process() {
  return place_from([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace soft
