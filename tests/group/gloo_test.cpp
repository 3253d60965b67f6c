#include "group/gloo.h"

#include <atomic>
#include <thread>

#include "base/error.h"
#include "rank/socket.h"
#include "support/tensors.h"

namespace soft {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using torch::Tensor;

int free_port() { return port_of(listen_on()); }

GlooRequest request_of(int rank, int world, int port) {
  GlooRequest request;
  request.place.rank = rank;
  request.place.world = world;
  request.place.master = "127.0.0.1";
  request.place.port = port;
  request.place.grouped = true;
  request.timeout = 20s;
  request.program = "this one";
  return request;
}

// Runs `work` in so many ranks, each in a thread, and returns what went wrong in each.
std::vector<std::string> in_ranks(int world, const std::function<void(Group&)>& work,
                                  const std::function<void(GlooRequest&)>& change = {}) {
  const int port = free_port();
  std::vector<std::string> errors(world);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      try {
        GlooRequest request = request_of(rank, world, port);
        if (change) change(request);
        const auto group = join_gloo(request);
        work(*group);
        group->barrier();
      } catch (const Error& error) {
        errors[rank] = error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return errors;
}

TEST(Gloo, AddsUpOverAllRanks) {
  for (int world : {1, 2, 3}) {
    const auto errors = in_ranks(world, [&](Group& group) {
      for (int64_t size : {1, 7, 1000}) {
        const Tensor x = torch::arange(size, torch::kFloat64) + group.rank();
        group.sum(x);
        const Tensor expected =
            torch::arange(size, torch::kFloat64) * world + world * (world - 1) / 2.0;
        EXPECT_TRUE(torch::equal(x, expected)) << size << " in " << world;
      }
    });
    EXPECT_THAT(errors, testing::Each(""));
  }
}

TEST(Gloo, EveryRankGetsTheSameBits) {
  std::vector<Tensor> results(3);
  in_ranks(3, [&](Group& group) {
    torch::manual_seed(5);
    const Tensor x = torch::full({4099}, 0.1F) * (1 + group.rank()) / 7;
    group.sum(x);
    results[group.rank()] = x;
  });
  EXPECT_TRUE(torch::equal(results[0], results[1]));
  EXPECT_TRUE(torch::equal(results[0], results[2]));
}

TEST(Gloo, AGroupOfOneChangesNoBit) {
  in_ranks(1, [](Group& group) {
    const Tensor x = torch::rand({1000});
    const Tensor before = x.clone();
    group.sum(x);
    EXPECT_TRUE(torch::equal(x, before));
  });
}

TEST(Gloo, SumsMayOverlapAndOthersHappenBeside) {
  const auto errors = in_ranks(2, [](Group& group) {
    std::vector<Tensor> tensors;
    std::vector<Group::Finish> finishes;
    for (int i = 0; i < 8; ++i) {
      tensors.push_back(torch::full({10'000}, static_cast<float>(i)));
      finishes.push_back(group.start_sum(tensors.back()));
      const Tensor aside = torch::full({3}, 1.0, torch::kFloat64);
      group.sum_aside(aside);
      EXPECT_EQ(aside[0].item<double>(), 2);
    }
    for (const auto& finish : finishes) finish();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(tensors[i][9999].item<float>(), 2.0F * i);
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(Gloo, RankZeroSharesTensorsAndText) {
  const auto errors = in_ranks(3, [](Group& group) {
    const Tensor floats = torch::full({5}, static_cast<float>(group.rank() + 1));
    const Tensor bytes = torch::full({9}, group.rank() + 1, torch::kUInt8);
    group.broadcast({floats, bytes});
    EXPECT_EQ(floats.sum().item<float>(), 5);
    EXPECT_EQ(bytes.sum().item<int64_t>(), 9);
    EXPECT_EQ(group.broadcast("from " + std::to_string(group.rank())), "from 0");
    EXPECT_EQ(group.broadcast(std::string()), "");
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(Gloo, GathersTextsInTheOrderOfTheRanks) {
  const auto errors = in_ranks(3, [](Group& group) {
    std::this_thread::sleep_for(30ms * (3 - group.rank()));
    EXPECT_THAT(group.gather(std::to_string(group.rank())), testing::ElementsAre("0", "1", "2"));
  });
  EXPECT_THAT(errors, testing::Each(""));
}

TEST(Gloo, NamesTheRanksThatDidNotCome) {
  GlooRequest request = request_of(0, 3, free_port());
  request.timeout = 300ms;
  EXPECT_THAT(test::error_of([&] { join_gloo(request); }), HasSubstr("rank 1, 2"));
}

TEST(Gloo, NamesTheRankThatRunsAnotherProgram) {
  const auto errors = in_ranks(
      2, [](Group&) { FAIL() << "must not meet"; },
      [](GlooRequest& request) {
        if (request.place.rank == 1) request.program = "another one";
      });
  for (const std::string& error : errors) {
    EXPECT_THAT(error, testing::AllOf(HasSubstr("rank 1"), HasSubstr("another program"),
                                      HasSubstr("\"another one\" there")));
  }
}

TEST(Gloo, SaysThatThePortIsTaken) {
  const Descriptor taken = listen_on();
  GlooRequest request = request_of(0, 1, port_of(taken));
  EXPECT_THAT(test::error_of([&] { join_gloo(request); }),
              HasSubstr(fmt::format("cannot open port {}", port_of(taken))));
}

TEST(Gloo, SaysThatNobodyIsAtTheMastersAddress) {
  GlooRequest request = request_of(1, 2, free_port());
  request.timeout = 200ms;
  EXPECT_THAT(test::error_of([&] { join_gloo(request); }),
              testing::AllOf(HasSubstr("cannot reach rank 0 at 127.0.0.1"), HasSubstr("0.2 s")));
}

TEST(Gloo, TheErrorOfOneRankReachesTheOthers) {
  std::atomic<int> told{0};
  const auto errors = in_ranks(
      3,
      [](Group& group) {
        if (group.rank() == 1) {
          group.end("the disk is full");
          fail("the disk is full");
        }
        group.sum(torch::ones({10}));
      },
      [&](GlooRequest& request) {
        request.lost = [&](const std::string& text) {
          EXPECT_THAT(text, testing::AllOf(HasSubstr("rank 1"), HasSubstr("the disk is full")));
          ++told;
        };
      });
  EXPECT_EQ(told, 2);
  EXPECT_THAT(errors[0], HasSubstr("the disk is full"));
  EXPECT_THAT(errors[2], HasSubstr("the disk is full"));
}

}  // namespace
}  // namespace soft
