// Parameters and MACs of Table 3's counterparts, as the public implementations count them.
#include "support/zoo.h"

#include "describe/cost.h"

namespace soft {
namespace {

struct Published {
  const char* name;
  int64_t params, macs;
};

constexpr Published kPublished[] = {
    {"resnet-18", 11'689'512, 1'814'073'344},      {"resnet-50", 25'557'032, 4'089'184'256},
    {"resnet-101", 44'549'160, 7'801'405'440},     {"resnet-152", 60'192'808, 11'513'626'624},
    {"pvt-tiny", 13'229'288, 1'932'911'616},       {"pvt-small", 24'485'864, 3'815'701'504},
    {"pvt-medium", 44'208'104, 6'659'175'424},     {"pvt-large", 61'369'320, 9'813'765'632},
    {"coat-lite-mini", 11'012'584, 1'987'031'552}, {"lambda-resnet-50", 16'040'616, 4'391'043'072},
    {"deit-small", 22'050'664, 4'598'882'304},     {"t2t-vit-t-14", 21'541'070, 6'088'721'920},
    {"t2t-vit-t-24", 64'101'454, 14'967'128'064},  {"cpvt-small", 21'978'856, 4'599'559'680},
    {"twins-svt-s", 24'060'776, 2'927'353'344},    {"twins-svt-l", 99'271'400, 15'111'777'280},
    {"vit-small-16", 48'754'408, 9'888'884'736},   {"botnet-s1-110", 51'739'544, 10'963'255'296},
    {"cait-s36", 68'220'712, 13'902'174'720},      {"swin-b", 87'768'224, 15'430'946'816},
    {"regnety-1.6gf", 11'202'430, 1'612'076'160},  {"regnety-4gf", 20'646'656, 3'973'288'448},
    {"regnety-8gf", 39'180'068, 7'963'057'312},    {"regnety-16gf", 83'590'140, 15'911'510'272},
    {"san10-pairwise", 10'531'848, 2'043'668'868}, {"san10", 11'841'124, 1'791'048'192},
};

TEST(Zoo, HasThePublishedNumbersOfParametersAndMacs) {
  for (const Published& row : kPublished) {
    const ModelCost cost = cost_of(find_model(row.name), {224, 224});
    EXPECT_EQ(cost.params, row.params) << row.name;
    // BoTNet's published count multiplies each query by every row of its tables, also by those that
    // no key reads.
    const double share = static_cast<double>(cost.macs) / static_cast<double>(row.macs);
    EXPECT_NEAR(share, 1, row.name == std::string("botnet-s1-110") ? 0.002 : 0) << row.name;
  }
}

TEST(Zoo, CountsSqueezeAndExcitationInBotnetsLastStageWhenAsked) {
  ModelSpec spec = find_model("botnet-s1-110");
  set_field(spec, "bot_se", "1");
  EXPECT_EQ(cost_of(spec, {224, 224}).params, 54'898'328);
}

TEST(Zoo, TensorsOfTheMinisAreThePublishedOnes) {
  for (const test::Mini& mini : test::minis()) {
    SCOPED_TRACE(mini.file);
    EXPECT_NO_THROW(check_fit(test::published_weights(mini), test::spec_of(mini)));
  }
}

TEST(Zoo, RefusesSizesThatItsWindowsDoNotDivide) {
  const auto refusal = [](const char* name, Grid size) {
    return test::error_of([&] { describe(find_model(name), size); });
  };
  EXPECT_THAT(refusal("deit-small", {224, 230}), testing::HasSubstr("multiples of 16"));
  EXPECT_THAT(refusal("swin-b", {256, 256}), testing::HasSubstr("try 224x224"));
  EXPECT_THAT(refusal("pvt-tiny", {100, 128}), testing::HasSubstr("try 96x128"));
}

std::string refusal_of(const ModelSpec& spec, Grid size) {
  try {
    describe(spec, size);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Odd sizes work, or the message has one that does.
TEST(Zoo, EveryRefusalOfASizeNamesOneThatWorks) {
  for (const Published& row : kPublished) {
    const ModelSpec spec = find_model(row.name);
    for (const Grid size : {Grid{33, 47}, Grid{100, 130}, Grid{225, 223}, Grid{224, 448}}) {
      const std::string message = refusal_of(spec, size);
      if (message.empty()) continue;
      Grid other{};
      const size_t found = message.find("try ");
      ASSERT_NE(found, std::string::npos) << message;
      ASSERT_EQ(std::sscanf(message.c_str() + found, "try %ldx%ld", &other.h, &other.w), 2);
      EXPECT_EQ(refusal_of(spec, other), "") << message;
    }
  }
}

TEST(Zoo, EverySettingOfAFamilyIsExplained) {
  for (const Published& row : kPublished) {
    const ModelSpec spec = find_model(row.name);
    EXPECT_EQ(field_help(spec).size(), settings_of(spec).size()) << row.name;
  }
}

TEST(Zoo, MemoryIsTheMostThatIsAliveAtOnce) {
  // In ResNet's first stage: the stem's map of 64x112x112 and what is left of it after pooling.
  const ModelCost cost = cost_of(find_model("resnet-18"), {224, 224});
  EXPECT_EQ(cost.stages[0].activation_bytes, 4 * (64 * 112 * 112 + 64 * 56 * 56));
  EXPECT_EQ(cost.activation_bytes, cost.stages[0].activation_bytes);
  EXPECT_LT(cost.stages[3].activation_bytes, cost.stages[2].activation_bytes);
}

TEST(Zoo, SettingsAreTheFamilysOwn) {
  ModelSpec spec = find_model("resnet-50");
  set_field(spec, "depths", "1,1,1,1");
  EXPECT_EQ(spec.list("depths"), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_THAT(test::error_of([&] { set_field(spec, "depth", "1,1"); }),
              testing::HasSubstr("did you mean 'depths'"));
  EXPECT_THAT(test::error_of([&] { set_field(spec, "depths", "1,1"); }),
              testing::HasSubstr("depths"));
  const ModelSpec back = spec_from_json(to_json(spec), "a card");
  EXPECT_EQ(back.list("depths"), spec.list("depths"));
  EXPECT_EQ(back.name, "resnet-50");
}

}  // namespace
}  // namespace soft
