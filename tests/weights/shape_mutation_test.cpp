// Files whose shapes, tensors or cards were changed at random or on purpose: each is understood or
// refused with an Error that names it, whatever its numbers are. In-process, so that a division by
// zero or an endless loop ends the test.
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "describe/cost.h"
#include "support/support.h"
#include "weights/ablations.h"
#include "weights/weights.h"

namespace soft {
namespace {

// One file of every kind: frames and mechanisms show in different tensors.
std::vector<ModelSpec> kinds() {
  std::vector<ModelSpec> specs;
  for (const char* row : {"soft-pico", "vit-small-pre", "vit-small-384x12"}) {
    for (const char* setting :
         {"attention=soft", "attention=soft-dense", "attention=softmax", "attention=linformer",
          "attention=performer", "attention=nystromformer", "attention=reformer", "sampler=avg",
          "overlap=off", "stage4=soft", "value_path=off", "class_token=on"}) {
      ModelSpec spec = find_model(row);
      try {
        apply_setting(spec, setting);
        for (StageSpec& stage : spec.stages) stage.depth = 1;
        validate(spec);
      } catch (const Error&) {
        continue;  // not a setting of this row
      }
      spec.name = std::string("file of ") + row + " " + setting;
      specs.push_back(spec);
    }
  }
  return specs;
}

class Tally {
 public:
  void read(const Weights& weights, const std::string& model = "") {
    ++cases_;
    try {
      const ModelSpec spec = card_of(weights, model).spec;
      check_fit(weights, spec);
      EXPECT_GT(cost_of(spec, {spec.image_size, spec.image_size}).params, 0);
      ++read_;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(weights.path));
    }
  }
  int cases() const { return cases_; }
  int refused() const { return cases_ - read_; }

 private:
  int cases_ = 0;
  int read_ = 0;
};

const std::vector<int64_t>& odd_sides() {
  static const std::vector<int64_t> sides{0,
                                          1,
                                          2,
                                          3,
                                          5,
                                          7,
                                          31,
                                          33,
                                          64,
                                          127,
                                          1000,
                                          1 << 20,
                                          (1 << 20) + 1,
                                          int64_t{1} << 31,
                                          int64_t{1} << 40,
                                          std::numeric_limits<int64_t>::max()};
  return sides;
}

// Every shape that one change makes of this one.
std::vector<std::vector<int64_t>> variants(const std::vector<int64_t>& shape) {
  std::vector<std::vector<int64_t>> all{{}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> sides = odd_sides();
    for (int64_t side : {shape[axis] - 1, shape[axis] + 1, 2 * shape[axis], shape[axis] / 2}) {
      sides.push_back(side);
    }
    for (int64_t side : sides) {
      all.push_back(shape);
      all.back()[axis] = side;
    }
    all.push_back(shape);
    all.back().erase(all.back().begin() + static_cast<ptrdiff_t>(axis));
    all.push_back(shape);
    all.back().insert(all.back().begin() + static_cast<ptrdiff_t>(axis), 1);
  }
  return all;
}

// Tensors whose shape decides something; the others are only compared with what follows from these.
bool decides(const std::string& name) {
  for (const char* part : {"pos_embed", "omega", "attn.E", "Qlandmark", "conv.weight", "proj.0.w",
                           "proj.3.w", "head.weight", "ff1.weight", "fc1.weight", "cls_token"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(ShapeMutations, OneTensorOfAnotherShapeIsUnderstoodOrRefused) {
  testing::internal::CaptureStderr();
  Tally tally;
  size_t turn = 0;
  for (const ModelSpec& spec : kinds()) {
    Weights weights = test::hollow_weights(spec);
    for (auto& [name, view] : weights.tensors) {
      const std::vector<int64_t> shape = view.shape;
      for (const auto& variant : variants(shape)) {
        if (!decides(name) && ++turn % 50 != 0) continue;
        view.shape = variant;
        tally.read(weights);
      }
      view.shape = shape;
    }
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(tally.cases(), 4000);
  EXPECT_GT(tally.refused(), tally.cases() * 9 / 10);
}

TEST(ShapeMutations, AMissingOrAForeignTensorIsUnderstoodOrRefused) {
  testing::internal::CaptureStderr();
  Tally tally;
  std::vector<Weights> strangers;
  for (const ModelSpec& spec : kinds()) strangers.push_back(test::hollow_weights(spec));
  for (const ModelSpec& spec : kinds()) {
    const Weights whole = test::hollow_weights(spec);
    for (const auto& [name, view] : whole.tensors) {
      Weights weights = whole;
      weights.tensors.erase(name);
      tally.read(weights);
      if (!decides(name)) continue;
      for (const Weights& stranger : strangers) {
        const auto next = stranger.tensors.lower_bound(name);
        if (next == stranger.tensors.end() || whole.tensors.count(next->first) != 0) continue;
        weights.tensors.insert(*next);
        tally.read(weights);
        weights.tensors.erase(next->first);
      }
    }
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(tally.cases(), 2000);
}

TEST(ShapeMutations, SeveralAtOnceAreUnderstoodOrRefused) {
  testing::internal::CaptureStderr();
  Tally tally;
  Random random(14);
  for (const ModelSpec& spec : kinds()) {
    const Weights whole = test::hollow_weights(spec);
    for (int i = 0; i < 150; ++i) {
      Weights weights = whole;
      for (int changes = 1 + i % 5; changes > 0; --changes) {
        const auto at = static_cast<ptrdiff_t>(random.below(whole.tensors.size()));
        const auto& name = std::next(whole.tensors.begin(), at)->first;
        const auto options = variants(whole.tensors.at(name).shape);
        weights.tensors.at(name).shape = options[random.below(options.size())];
      }
      tally.read(weights, i % 4 == 0 ? "soft-pico" : "");
    }
  }
  testing::internal::GetCapturedStderr();
  EXPECT_GT(tally.cases(), 4000);
}

TEST(ShapeMutations, AnySettingInACardIsUnderstoodOrRefused) {
  Tally tally;
  for (const ModelSpec& spec : kinds()) {
    Card card;
    card.spec = spec;
    const Json sound = to_json(card);
    Weights weights = test::hollow_weights(spec);
    for (const std::string_view key : field_names()) {
      for (const char* value :
           {"", "0", "1", "-1", "3", "33", "2147483647", "2147483648", "1e9", "nan", "0,0,0,0",
            "0,0,0", "1,1,1,1", "64,64,64,64", "-1,2,3,4", "on", "off", "performer", "soft"}) {
        Json json = sound;
        json["spec"][std::string(key)] = value;
        weights.metadata["soft"] = json.dump();
        tally.read(weights);
      }
    }
  }
  EXPECT_GT(tally.cases(), 4000);
}

// No head of 385 channels fits into 384: once a division by zero.
TEST(ShapeMutations, RandomFeaturesWiderThanTheirStageAreNamed) {
  ModelSpec spec = find_model("vit-small-pre");
  apply_setting(spec, "attention=performer");
  Weights weights = test::hollow_weights(spec);
  weights.tensors.at("block1.0.attn.attn.omega").shape = {64, 385};
  EXPECT_THAT(test::error_of([&] { card_of(weights); }),
              testing::AllOf(testing::HasSubstr("omega"), testing::HasSubstr("385 channels")));
}

}  // namespace
}  // namespace soft
