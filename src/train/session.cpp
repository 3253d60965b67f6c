#include "train/session.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <filesystem>
#include <fstream>

#include "attention/torch.h"
#include "base/error.h"
#include "base/file.h"
#include "data/sha256.h"
#include "group/gloo.h"
#include "train/trainer.h"

namespace soft {
namespace {

// The library that holds this very function, by its content: two builds of one version differ.
std::string program() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&run_training), &info) == 0) return TORCH_VERSION;
  Sha256 sum;
  std::ifstream file(info.dli_fname, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.gcount() > 0) {
    sum.add(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<size_t>(file.gcount()));
  }
  return fmt::format("build {}, LibTorch {}", sum.hex().substr(0, 12), TORCH_VERSION);
}

// Rank 0 alone speaks; every rank may be asked to stop, and hears of lost ones.
TrainEvents heard_by(const Group& group, const TrainEvents& events) {
  if (group.first()) return events;
  TrainEvents few;
  few.should_stop = events.should_stop;
  few.lost = events.lost;
  return few;
}

// Rank 0 says whether a run is resumed, and which; its folder need not be there for the others.
void agree_on_run(Group& group, TrainRequest& request) {
  const std::string path = request.out + "/recipe.json";
  std::error_code unknown;
  std::string stored;
  if (group.first() && request.resume && std::filesystem::exists(path, unknown)) {
    stored = read_text(path);
  }
  const Json word =
      parse_json(group.broadcast(Json{{"resume", request.resume}, {"recipe", stored}}.dump()),
                 "rank 0's word");
  request.resume = word.at("resume").get<bool>();
  request.stored_recipe = word.at("recipe").get<std::string>();
}

// Where the data stand may differ from rank to rank, what they are may not: so says their listing.
Json what_matters(const Plan& plan) {
  RunFile run = plan.run;
  run.data.clear();
  run.init.clear();
  return to_json(run);
}

void check_alike(Group& group, const Plan& plan) {
  const std::string own = what_matters(plan).dump();
  const std::vector<std::string> all = group.gather(own);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const std::string keys =
        differing_keys(parse_json(all[rank], "a rank's plan"), parse_json(all[0], "rank 0's plan"));
    fail("rank {} differs from rank 0 in {}; all ranks need the same options and the same data",
         rank, keys);
  }
}

TrainOutcome train_in(const std::shared_ptr<Group>& group, TrainRequest request,
                      const TrainEvents& events) {
  agree_on_run(*group, request);
  Plan plan = make_plan(request);
  check_alike(*group, plan);
  Trainer trainer(std::move(plan), request, heard_by(*group, events), group);
  TrainOutcome outcome = trainer.run();
  group->barrier();  // nobody leaves while another still writes
  return outcome;
}

std::shared_ptr<Group> join(const TrainRequest& request, const TrainEvents& events) {
  GlooRequest gloo;
  gloo.place = request.place;
  gloo.timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * request.group_timeout));
  gloo.program = program();
  gloo.lost = events.lost;
  return join_gloo(gloo);
}

}  // namespace

TrainOutcome run_training(const TrainRequest& request, const TrainEvents& events) {
  if (request.dry_run) {  // rank 0 looks for all
    if (!request.place.first()) return {};
    return Trainer(make_plan(request), request, {}).measure();
  }
  if (!request.place.grouped) return Trainer(make_plan(request), request, events).run();
  const std::shared_ptr<Group> group = join(request, events);
  try {
    return train_in(group, request, events);
  } catch (const c10::Error& error) {
    group->end(error.what_without_backtrace());
    throw;
  } catch (const std::exception& error) {
    group->end(error.what());
    throw;
  }
}

}  // namespace soft
