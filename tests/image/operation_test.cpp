#include "image/operation.h"

#include <algorithm>
#include <array>

#include "image/picture.h"

namespace soft {
namespace {

constexpr std::array<const char*, kOperationCount> kNames{
    "auto_contrast", "equalize",     "invert",  "rotate",      "posterize",
    "solarize",      "solarize_add", "color",   "contrast",    "brightness",
    "sharpness",     "shear_x",      "shear_y", "translate_x", "translate_y"};

Operation operation_named(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  EXPECT_NE(found, kNames.end()) << name;
  return static_cast<Operation>(found - kNames.begin());
}

TEST(Operation, EqualsPillows) {
  std::array<int, kOperationCount> seen{};
  test::for_each_row("operation.txt", [&](std::istream& row) {
    std::string name, source, filter, hash;
    double argument = 0;
    row >> name >> source >> argument >> filter >> hash;
    const Operation operation = operation_named(name);
    const Image out = apply(test::source(source), operation, argument, test::filter_named(filter));
    EXPECT_EQ(test::hash_of(out), hash);
    ++seen[static_cast<size_t>(operation)];
  });
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0);
}

TEST(Operation, InvertTwiceGivesThePictureBack) {
  const Image image = test::noise(19, 7);
  const Image inverted = apply(image, Operation::kInvert, 0);
  EXPECT_NE(inverted.rgb, image.rgb);
  EXPECT_EQ(apply(inverted, Operation::kInvert, 0).rgb, image.rgb);
}

TEST(Operation, AtItsNeutralArgumentChangesNothing) {
  const Image image = test::noise(19, 7);
  const std::pair<Operation, double> neutral[] = {
      {Operation::kRotate, 0},      {Operation::kPosterize, 8},  {Operation::kSolarize, 256},
      {Operation::kSolarizeAdd, 0}, {Operation::kColor, 1},      {Operation::kContrast, 1},
      {Operation::kBrightness, 1},  {Operation::kSharpness, 1},  {Operation::kShearX, 0},
      {Operation::kShearY, 0},      {Operation::kTranslateX, 0}, {Operation::kTranslateY, 0}};
  for (const auto& [operation, argument] : neutral) {
    for (const Filter filter : {Filter::kBilinear, Filter::kBicubic}) {
      EXPECT_EQ(apply(image, operation, argument, filter).rgb, image.rgb)
          << kNames[static_cast<size_t>(operation)];
    }
  }
}

TEST(Operation, WhatMovesOutIsFilledWithTheMeanColour) {
  const Image out = apply(test::noise(8, 4), Operation::kTranslateX, 8);
  for (size_t i = 0; i < out.rgb.size(); i += 3) {
    EXPECT_EQ(out.rgb[i], 124);
    EXPECT_EQ(out.rgb[i + 1], 116);
    EXPECT_EQ(out.rgb[i + 2], 104);
  }
}

}  // namespace
}  // namespace soft
