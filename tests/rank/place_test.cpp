#include "rank/place.h"

#include <map>

#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

RankPlace place_in(const Variables& variables) {
  return place_from([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(Place, IsAloneWithoutVariables) {
  const RankPlace place = place_in({});
  EXPECT_FALSE(place.grouped);
  EXPECT_EQ(place.world, 1);
}

TEST(Place, ReadsTheVariablesOfTorchrun) {
  const RankPlace place = place_in({{"RANK", "3"},
                                    {"WORLD_SIZE", "4"},
                                    {"LOCAL_RANK", "1"},
                                    {"MASTER_ADDR", "node1"},
                                    {"MASTER_PORT", "1234"}});
  EXPECT_TRUE(place.grouped);
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.world, 4);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.master, "node1");
  EXPECT_EQ(place.port, 1234);
  EXPECT_FALSE(place.stores);
}

TEST(Place, UsesTheStoreThatTorchrunKeeps) {
  const RankPlace place = place_in({{"RANK", "0"},
                                    {"WORLD_SIZE", "2"},
                                    {"MASTER_ADDR", "localhost"},
                                    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                    {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_TRUE(place.stores);
  EXPECT_EQ(place.prefix, "attempt_2");
}

TEST(Place, ReadsSlurmAndItsShortListOfHosts) {
  const RankPlace place = place_in({{"SLURM_PROCID", "5"},
                                    {"SLURM_STEP_NUM_TASKS", "8"},
                                    {"SLURM_LOCALID", "1"},
                                    {"SLURM_STEP_NODELIST", "node[03-07,9],login"},
                                    {"SLURM_JOB_ID", "123456"}});
  EXPECT_EQ(place.rank, 5);
  EXPECT_EQ(place.world, 8);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.master, "node03");
  EXPECT_EQ(place.port, 15000 + 3456);
}

TEST(Place, AnAllocationOfSlurmWithoutAStepIsNoGroup) {
  EXPECT_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).grouped);
}

TEST(Place, ReadsOpenMpiOnOneMachine) {
  Variables variables{{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_EQ(place_in(variables).master, "127.0.0.1");
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_THAT(test::error_of([&] { place_in(variables); }), HasSubstr("MASTER_ADDR"));
}

TEST(Place, NamesWhatIsMissingOrWrong) {
  EXPECT_THAT(test::error_of([] { place_in({{"RANK", "0"}}); }), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(test::error_of([] { place_in({{"WORLD_SIZE", "2"}}); }), HasSubstr("RANK"));
  EXPECT_THAT(test::error_of([] {
                place_in({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
              }),
              HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(test::error_of([] {
                place_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}});
              }),
              HasSubstr("rank 2 of 2"));
  EXPECT_THAT(test::error_of([] {
                place_in({{"RANK", "x"}, {"WORLD_SIZE", "2"}});
              }),
              HasSubstr("RANK=x"));
  EXPECT_THAT(
      test::error_of([] {
        place_in(
            {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}});
      }),
      HasSubstr("70000"));
}

TEST(FirstHost, OfEveryShortForm) {
  EXPECT_EQ(first_host("a"), "a");
  EXPECT_EQ(first_host("a,b[1-2]"), "a");
  EXPECT_EQ(first_host("b[1-2],a"), "b1");
  EXPECT_EQ(first_host("n[007]"), "n007");
}

}  // namespace
}  // namespace soft
