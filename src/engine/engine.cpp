#include "engine/engine.h"

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/finite.h"
#include "base/hold_signals.h"
#include "describe/cost.h"
#include "engine/shelf.h"
#include "engine/team.h"

namespace soft {
namespace {

// How a batch is run: the first `apart` images side by side, one core each; the others one after
// another, all cores together.
struct Split {
  int64_t apart;
  int64_t lanes;  // for those
};

Split split_batch(int64_t count, int team) {
  const int64_t rest = count % team;
  const int64_t apart = 2 * rest > team ? count : count - rest;
  return {team == 1 ? count : apart, std::min<int64_t>(team, apart)};
}

// Refuses what cannot run before any memory is taken for it.
void check(const Packed& model, Workspace& workspace, const ImageBatch& images) {
  if (images.count < 1) {
    fail("a batch of {} images cannot run; give at least one", images.count);
  }
  check_image(model.spec(), images.size);
  const Split split = split_batch(images.count, threads());
  const Workspace::Shelf& shelf = workspace.shelf();
  if (split.lanes > 0) shelf.check_memory(model.network(), images.size, 1, split.lanes);
  if (split.apart < images.count) {
    shelf.check_memory(model.network(), images.size, threads(), 1);
  }
}

// Calls use(lane, image, pixels) for every image of the batch.
void each_image(const Packed& model, Workspace& workspace, const ImageBatch& images,
                const std::function<void(Carrier&, int64_t, const float*)>& use) {
  const HoldSignals held;
  const int team = threads();
  const Split split = split_batch(images.count, team);
  const int64_t floats = 3 * images.size.size();
  if (split.apart > 0) {
    const auto lanes = workspace.shelf().lanes(model.network(), images.size, 1, split.lanes);
    share(team, split.apart, [&](int worker, int64_t image) {
      use(*lanes[worker], image, images.pixels + image * floats);
    });
  }
  for (int64_t image = split.apart; image < images.count; ++image) {
    const auto lanes = workspace.shelf().lanes(model.network(), images.size, team, 1);
    use(*lanes.front(), image, images.pixels + image * floats);
  }
}

// Answers of `each` floats an image. One that is not finite is no answer: the image runs again, to
// name the place where that began, or `otherwise`.
void check_answers(const Packed& model, Workspace& workspace, const ImageBatch& images,
                   const float* answers, int64_t each, const std::string& otherwise) {
  for (int64_t image = 0; image < images.count; ++image) {
    if (all_finite(answers + image * each, each)) continue;
    std::string place;
    each_image(model, workspace, {images.pixels + image * 3 * images.size.size(), 1, images.size},
               [&](Carrier& lane, int64_t, const float* pixels) {
                 place = lane.first_not_finite(pixels);
               });
    fail_not_finite(place.empty() ? otherwise : place);
  }
}

// Of each head over all pictures, from powers [count, heads].
std::vector<double> checked_shares(const Packed& model, Workspace& workspace,
                                   const ImageBatch& images, const std::vector<HeadPower>& powers,
                                   const std::string& otherwise) {
  const int64_t heads = static_cast<int64_t>(powers.size()) / images.count;
  std::vector<HeadPower> sums(heads);
  std::vector<float> sound;  // 0, or not finite
  for (size_t i = 0; i < powers.size(); ++i) {
    sums[i % heads].y += powers[i].y;
    sums[i % heads].v += powers[i].v;
    sound.push_back(static_cast<float>(0 * (powers[i].y + powers[i].v)));
  }
  check_answers(model, workspace, images, sound.data(), heads, otherwise);
  std::vector<double> shares;
  for (const HeadPower& sum : sums) shares.push_back(std::sqrt(sum.y / sum.v));
  return shares;
}

// Of the layer's attention; 0 where it has none that mixes tokens with tokens.
int heads_of(const Description& model, int stage, int layer) {
  for (const Part& part : model.parts) {
    if (part.as<op::Mix>() != nullptr && part.place == Place{stage, layer}) {
      return part.as<op::Mix>()->spec.heads;
    }
  }
  return 0;
}

std::vector<HeadShare> every_head(const Description& model) {
  std::vector<HeadShare> all;
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    for (int i = 0; i < model.stages[s].depth; ++i) {
      const int heads = heads_of(model, s, i);
      for (int h = 0; h < heads; ++h) all.push_back({s + 1, i + 1, h + 1, 0});
    }
  }
  return all;
}

void check_query(const Description& model, const std::string& name, Grid image,
                 const RowQuery& query) {
  const auto stages = static_cast<int>(model.stages.size());
  if (query.stage < 0 || query.stage >= stages) {
    fail_usage("stage {} does not exist; {} has {}", query.stage + 1, name, stages);
  }
  const int depth = model.stages[query.stage].depth, last = query.layer + query.layers - 1;
  if (query.layer < 0 || query.layers < 1 || last >= depth) {
    fail_usage("layer {} does not exist; stage {} has {}", last + 1, query.stage + 1, depth);
  }
  const int64_t tokens = model.stages[query.stage].grid.size();
  if (query.token < 0 || query.token >= tokens) {
    fail_usage("token {} does not exist; stage {} has {} at {}x{} pixels", query.token,
               query.stage + 1, tokens, image.h, image.w);
  }
  if (heads_of(model, query.stage, query.layer) == 0) {
    fail_usage("{} has no attention matrix of tokens and tokens in stage {}", name,
               query.stage + 1);
  }
}

}  // namespace

void forward(const Packed& model, Workspace& workspace, const ImageBatch& images, float* logits) {
  check(model, workspace, images);
  const int64_t classes = model.spec().classes;
  each_image(model, workspace, images, [&](Carrier& lane, int64_t image, const float* pixels) {
    lane.logits(pixels, logits + image * classes);
  });
  check_answers(model, workspace, images, logits, classes, classifier_place());
}

void embed(const Packed& model, Workspace& workspace, const ImageBatch& images, float* vectors) {
  check(model, workspace, images);
  const int64_t dim = model.embedding();
  each_image(model, workspace, images, [&](Carrier& lane, int64_t image, const float* pixels) {
    lane.embed(pixels, vectors + image * dim);
  });
  check_answers(model, workspace, images, vectors, dim, classifier_place());
}

std::vector<Array> features(const Packed& model, Workspace& workspace, const ImageBatch& images) {
  check(model, workspace, images);
  std::vector<Array> maps;
  for (const StageCost& stage : cost_of(model.spec(), images.size).stages) {
    const Grid grid = stage.grid;
    maps.push_back({{images.count, stage.dim, grid.h, grid.w}, {}});
    maps.back().data.resize(images.count * stage.dim * grid.size());
  }
  each_image(model, workspace, images, [&](Carrier& lane, int64_t image, const float* pixels) {
    std::vector<float*> own;
    for (Array& map : maps) {
      own.push_back(map.data.data() + image * static_cast<int64_t>(map.data.size()) / images.count);
    }
    lane.features(pixels, own);
  });
  for (const Array& map : maps) {
    const int64_t each = static_cast<int64_t>(map.data.size()) / images.count;
    check_answers(model, workspace, images, map.data.data(), each, classifier_place());
  }
  return maps;
}

AttentionRows attention_row(const Packed& model, Workspace& workspace, const ImageBatch& images,
                            const RowQuery& query) {
  check(model, workspace, images);
  const Description description = describe(model.spec(), images.size);
  check_query(description, model.spec().name, images.size, query);
  const StageOutline& stage = description.stages[query.stage];
  const int64_t tokens = stage.prefix + stage.grid.size();
  const int64_t heads = query.layers * heads_of(description, query.stage, query.layer);
  AttentionRows rows{{{images.count, heads, tokens}, {}}, {}};
  rows.maps.data.resize(images.count * heads * tokens);
  std::vector<HeadPower> powers(images.count * heads);
  each_image(model, workspace, images, [&](Carrier& lane, int64_t image, const float* pixels) {
    lane.attention_row(pixels, query, rows.maps.data.data() + image * heads * tokens,
                       powers.data() + image * heads);
  });
  const std::string place = attention_place(query.stage, query.layer);
  check_answers(model, workspace, images, rows.maps.data.data(), heads * tokens, place);
  rows.shares = checked_shares(model, workspace, images, powers, place);
  return rows;
}

std::vector<HeadShare> head_shares(const Packed& model, Workspace& workspace,
                                   const ImageBatch& images) {
  check(model, workspace, images);
  std::vector<HeadShare> all = every_head(describe(model.spec(), images.size));
  if (all.empty()) return all;
  const auto heads = static_cast<int64_t>(all.size());
  std::vector<HeadPower> powers(images.count * heads);
  each_image(model, workspace, images, [&](Carrier& lane, int64_t image, const float* pixels) {
    lane.powers(pixels, powers.data() + image * heads);
  });
  const std::vector<double> shares =
      checked_shares(model, workspace, images, powers, classifier_place());
  for (int64_t i = 0; i < heads; ++i) all[i].share = shares[i];
  return all;
}

}  // namespace soft
