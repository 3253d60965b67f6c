// Which of how many processes this one is, and where they meet. Read from the environment as
// torchrun, `soft launch`, srun and mpirun leave it:
//   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT      torchrun, soft launch, by hand
//   SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID …         srun
//   OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK                  mpirun of Open MPI
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace soft {

struct RankPlace {
  int rank = 0, world = 1;
  int local_rank = 0;    // among those of this machine
  std::string master;    // where rank 0 is
  int port = 29500;      // and its store
  std::string prefix;    // of all keys, where the store belongs to the starter
  bool stores = false;   // the starter (torchrun) keeps the store: nobody opens one
  bool grouped = false;  // started as one of a group, even if of one

  bool first() const { return rank == 0; }
};

// The value of a variable, none when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

// A process without any of these variables is alone. Those that contradict each other, or do not
// say where rank 0 is, are a usage error.
RankPlace place_from(const Environment& environment);
RankPlace place_of_process();

// The first host of SLURM's short form: "node[03-07,9],login" -> "node03".
std::string first_host(const std::string& list);

}  // namespace soft
