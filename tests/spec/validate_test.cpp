#include <tuple>

#include "base/error.h"
#include "spec/model_spec.h"
#include "support/support.h"

namespace soft {
namespace {

using testing::HasSubstr;

struct Refusal {
  const char* model;
  std::vector<const char*> settings;
  const char* reason;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithAUsageErrorThatNamesTheReason) {
  ModelSpec spec = find_model(GetParam().model);
  for (const char* setting : GetParam().settings) apply_setting(spec, setting);
  try {
    validate(spec);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().reason));
    EXPECT_EQ(error.fault(), Fault::kUsage);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Combinations, Refused,
    testing::Values(
        Refusal{"soft-tiny", {"heads=3,4,10,16"}, "64 channels cannot be split into 3 heads"},
        Refusal{"soft-tiny", {"heads=0,4,10,16"}, "heads=0"},
        Refusal{"soft-tiny", {"dims=0,128,320,512"}, "dims=0"},
        Refusal{"soft-tiny", {"dims=2000000000,128,320,512"}, "dims=2000000000"},
        Refusal{"soft-tiny", {"depths=1,0,3,2"}, "depths=0"},
        Refusal{"soft-tiny", {"ratios=0,4,2,1"}, "ratios=0"},
        Refusal{"soft-tiny", {"ratios=64,4,2,1"}, "smaller than the 64x64 sampling window"},
        Refusal{"soft-tiny", {"value_kernels=8,5,3,3"}, "must be odd"},
        Refusal{"soft-tiny", {"value_kernels=-1,5,3,3"}, "value_kernels=-1"},
        Refusal{"soft-tiny", {"newton_steps=0"}, "newton_steps=0"},
        Refusal{"soft-tiny", {"newton_steps=201"}, "newton_steps=201"},
        Refusal{"soft-tiny", {"epsilon=-0.1"}, "epsilon=-0.1"},
        Refusal{"soft-tiny", {"landmarks=-1"}, "landmarks=-1"},
        Refusal{"soft-tiny", {"landmarks=50"}, "needs g*g, e.g. 49"},
        Refusal{"soft-tiny", {"landmarks=50", "sampler=avg"}, "sampler=avg needs g*g"},
        Refusal{"soft-tiny", {"landmarks=400"}, "fewer than landmarks=400"},
        Refusal{"soft-tiny", {"inverse=exact", "inverse_grad=unrolled"}, "no steps to unroll"},
        Refusal{"soft-tiny", {"class_token=off"}, "needs stage4=soft"},
        Refusal{"soft-tiny", {"classes=0"}, "classes=0"},
        Refusal{"soft-tiny", {"mlp_ratio=0"}, "mlp_ratio=0"},
        Refusal{"soft-tiny", {"stem_dim=0"}, "stem_dim=0"},
        Refusal{"soft-tiny", {"stem_strides=2,0,2"}, "stem_strides=0"},
        Refusal{"soft-tiny", {"image_size=31"}, "image_size=31"},
        Refusal{"soft-tiny", {"image_size=1000000"}, "image_size=1000000"},
        Refusal{"soft-tiny", {"overlap=off", "image_size=32", "stem_strides=4,4,4"}, "no token"},
        Refusal{"soft-tiny",
                {"attention=nystromformer", "landmarks=50"},
                "attention=nystromformer needs g*g, e.g. 49"},
        Refusal{
            "soft-tiny", {"attention=nystromformer", "landmarks=400"}, "fewer than landmarks=400"},
        Refusal{"soft-tiny", {"attention=linformer", "landmarks=400"}, "fewer than landmarks=400"},
        Refusal{"soft-tiny", {"attention=linformer", "ratios=64,4,2,1"}, "64x64 sampling window"},
        Refusal{"soft-tiny", {"attention=performer", "features=-1"}, "features=-1"},
        Refusal{"soft-tiny", {"attention=performer", "features=100000"}, "features=100000"},
        Refusal{"soft-tiny", {"attention=performer", "redraw_steps=-5"}, "redraw_steps=-5"},
        Refusal{"soft-tiny",
                {"attention=performer", "dims=64,128,16384,512", "heads=2,4,1,16"},
                "features by default"},
        Refusal{"soft-tiny", {"attention=reformer", "hash_rounds=0"}, "hash_rounds=0"},
        Refusal{"soft-tiny", {"attention=reformer", "bucket_size=1"}, "bucket_size=1"},
        Refusal{"soft-tiny", {"attention=softmax", "normalise=rows"}, "use attention=soft"},
        Refusal{"soft-tiny", {"attention=none", "normalise=core"}, "use attention=soft"},
        Refusal{"soft-tiny", {"attention=performer", "kernel_scale=paper"}, "use attention=soft"},
        Refusal{"vit-small-pre", {"patch=0"}, "patch=0"},
        Refusal{"vit-small-pre", {"patch=225"}, "no token"}));

TEST(Validate, StageFourKeepsItsReleasedForm) {
  ModelSpec spec = find_model("soft-tiny");
  for (const char* setting : {"stage4=soft", "kernel_scale=paper", "normalise=rows"}) {
    apply_setting(spec, setting);
  }
  EXPECT_NO_THROW(validate(spec));
  EXPECT_EQ(normalisation_of(attention_of(spec, 2)), Normalise::kRows);
  EXPECT_EQ(attention_of(spec, 2).kernel_scale, KernelScale::kPaper);
  EXPECT_EQ(normalisation_of(attention_of(spec, 3)), Normalise::kNone);
  EXPECT_EQ(attention_of(spec, 3).kernel_scale, KernelScale::kReleased);
}

TEST(Validate, LandmarksNeedNoSquareWhereTokensAreDrawnOneByOne) {
  for (const char* sampler : {"random", "biased"}) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, "landmarks", "50");
    set_field(spec, "sampler", sampler);
    EXPECT_NO_THROW(validate(spec)) << sampler;
  }
}

TEST(Validate, EveryLengthOfTable4aIsAccepted) {
  for (const char* landmarks : {"36", "49", "64", "81"}) {
    ModelSpec spec = find_model("soft-tiny");
    set_field(spec, "landmarks", landmarks);
    EXPECT_NO_THROW(validate(spec)) << landmarks;
  }
}

TEST(CheckImage, AcceptsAnySizeFrom32PixelsUp) {
  const ModelSpec spec = find_model("soft-tiny");
  for (const auto& [h, w] : {std::pair{32, 32}, {33, 57}, {224, 224}, {225, 1023}, {2048, 32}}) {
    EXPECT_NO_THROW(check_image(spec, {h, w})) << h << "x" << w;
  }
}

TEST(CheckImage, BlamesThePictureUnlessToldOtherwise) {
  const ModelSpec spec = find_model("soft-tiny");
  const auto fault = [&](auto... blame) {
    try {
      check_image(spec, {31, 224}, blame...);
    } catch (const Error& error) {
      return error.fault();
    }
    throw std::logic_error("accepted");
  };
  EXPECT_EQ(fault(), Fault::kWorld);
  EXPECT_EQ(fault(Fault::kUsage), Fault::kUsage);
  EXPECT_THAT(test::error_of([&] { check_image(spec, {224, 20'000}); }), HasSubstr("too large"));
}

}  // namespace
}  // namespace soft
