#include "data/cue.h"

#include <map>
#include <numeric>
#include <set>

#include "data/loader.h"
#include "data/toy.h"

namespace soft {
namespace {

using Colour = std::array<double, 3>;

// Mean colour of the pixels with a weight, weighted.
Colour mean_colour(const Image& image, const std::vector<float>& weights) {
  Colour sum{};
  double total = 0;
  for (size_t pixel = 0; pixel < weights.size(); ++pixel) {
    for (int channel = 0; channel < 3; ++channel) {
      sum[channel] += weights[pixel] * image.rgb[3 * pixel + channel];
    }
    total += weights[pixel];
  }
  for (double& value : sum) value /= total;
  return sum;
}

Colour ground_of(const CuePicture& picture) {
  std::vector<float> free(picture.cue.size(), 1);
  for (size_t pixel = 0; pixel < free.size(); ++pixel) {
    for (const auto& mask : picture.masks) free[pixel] *= mask[pixel] == 0 ? 1 : 0;
    free[pixel] *= picture.cue[pixel] == 0 ? 1 : 0;
  }
  return mean_colour(picture.image, free);
}

// The ink under a mask, the background that shines through at its edges taken away.
Colour colour_under(const CuePicture& picture, const std::vector<float>& mask) {
  double total = 0, squares = 0;
  for (float weight : mask) {
    total += weight;
    squares += weight * weight;
  }
  const Colour ground = ground_of(picture);
  Colour colour = mean_colour(picture.image, mask);
  for (int channel = 0; channel < 3; ++channel) {
    colour[channel] = ground[channel] + (colour[channel] - ground[channel]) * total / squares;
  }
  return colour;
}

double apart(const Colour& a, const Colour& b) {
  double sum = 0;
  for (int channel = 0; channel < 3; ++channel) sum += std::abs(a[channel] - b[channel]);
  return sum;
}

double area(const std::vector<float>& mask) {
  return std::accumulate(mask.begin(), mask.end(), 0.0);
}

TEST(Cue, TheLabelFollowsFromThePixelsAndTheMasks) {
  for (int size : {16, 27, 32, 97}) {
    for (int64_t index = 0; index < 100; ++index) {
      const CuePicture picture = draw_cue({size, 3}, Split::kTrain, index, 5);
      const auto cue = colour_under(picture, picture.cue);
      std::map<double, int> by_distance;
      for (int i = 0; i < kCueObjects; ++i) {
        by_distance[apart(cue, colour_under(picture, picture.masks[i]))] = i;
      }
      ASSERT_EQ(by_distance.begin()->second, picture.right) << size << " " << index;
      EXPECT_LT(by_distance.begin()->first, 20) << size << " " << index;
      EXPECT_GT(std::next(by_distance.begin())->first, 60) << size << " " << index;
    }
  }
}

TEST(Cue, ShapesAndColoursDiffer) {
  for (int64_t index = 0; index < 500; ++index) {
    const CuePicture picture = draw_cue({}, Split::kValidation, index);
    EXPECT_EQ(std::set<int>(picture.shapes.begin(), picture.shapes.end()).size(), 4u);
    EXPECT_EQ(std::set<int>(picture.colours.begin(), picture.colours.end()).size(), 4u);
  }
}

// The shape can be read off its mask: how much of the smallest square around it is covered.
TEST(Cue, EveryShapeFillsItsOwnPartOfItsBounds) {
  const std::map<int, double> expected{{0, M_PI / 4}, {1, 1}, {2, 0.5}, {3, 0.53}, {4, 0.5}};
  const int size = 256;
  for (int64_t index = 0; index < 20; ++index) {
    const CuePicture picture = draw_cue({size, 0}, Split::kTrain, index);
    for (int i = 0; i < kCueObjects; ++i) {
      int left = size, right = 0, top = size, bottom = 0;
      for (int pixel = 0; pixel < size * size; ++pixel) {
        if (picture.masks[i][pixel] < 0.5f) continue;
        left = std::min(left, pixel % size);
        right = std::max(right, pixel % size + 1);
        top = std::min(top, pixel / size);
        bottom = std::max(bottom, pixel / size + 1);
      }
      const double share = area(picture.masks[i]) / ((right - left) * (bottom - top));
      EXPECT_NEAR(share, expected.at(picture.shapes[i]), 0.05) << picture.shapes[i];
    }
  }
}

TEST(Cue, ObjectsStayInTheirQuadrantsAndOffTheCue) {
  const int size = 64;
  for (int64_t index = 0; index < 300; ++index) {
    const CuePicture picture = draw_cue({size, 1}, Split::kTrain, index);
    for (int i = 0; i < kCueObjects; ++i) {
      for (int pixel = 0; pixel < size * size; ++pixel) {
        if (picture.masks[i][pixel] == 0) continue;
        ASSERT_EQ(picture.cue[pixel], 0) << index;
        ASSERT_EQ(pixel % size / (size / 2) + 2 * (pixel / size / (size / 2)), i) << index;
      }
    }
  }
}

TEST(Cue, ThePictureDependsOnSeedSplitIndexAndEpochOnly) {
  const auto pixels = [](uint64_t seed, Split split, int64_t index, int64_t epoch) {
    return draw_cue({32, seed}, split, index, epoch).image.rgb;
  };
  const auto first = pixels(1, Split::kTrain, 7, 0);
  EXPECT_EQ(first, pixels(1, Split::kTrain, 7, 0));
  EXPECT_NE(first, pixels(2, Split::kTrain, 7, 0));
  EXPECT_NE(first, pixels(1, Split::kValidation, 7, 0));
  EXPECT_NE(first, pixels(1, Split::kTrain, 8, 0));
  EXPECT_NE(first, pixels(1, Split::kTrain, 7, 1));
}

TEST(Cue, TheSamePictureIsDrawnAtAnySize) {
  const CuePicture small = draw_cue({32, 0}, Split::kTrain, 3);
  const CuePicture large = draw_cue({128, 0}, Split::kTrain, 3);
  EXPECT_EQ(small.shapes, large.shapes);
  EXPECT_EQ(small.colours, large.colours);
  for (int i = 0; i < kCueObjects; ++i) {
    EXPECT_NEAR(area(large.masks[i]) / 16, area(small.masks[i]), 0.08 * area(small.masks[i]));
  }
}

TEST(Cue, LabelsAreBalancedAndTheSameInEveryEpoch) {
  const Dataset dataset = open_cue({32, 4}, Split::kTrain);
  std::map<int, int64_t> counts;
  for (int label : dataset.labels) ++counts[label];
  ASSERT_EQ(counts.size(), 5u);
  for (const auto& [label, count] : counts) EXPECT_NEAR(static_cast<double>(count), 6000, 300);
  for (int64_t index = 0; index < 50; ++index) {
    for (int64_t epoch : {0, 1, 9}) {
      EXPECT_EQ(draw_cue({32, 4}, Split::kTrain, index, epoch).label(), dataset.labels[index]);
    }
  }
}

// Neither the place nor the colour of the right object says what it is.
TEST(Cue, TheRightObjectIsAnywhereInAnyColour) {
  std::map<int, int> places, colours;
  for (int64_t index = 0; index < 2000; ++index) {
    const CuePicture picture = draw_cue({16, 0}, Split::kTrain, index);
    ++places[picture.right];
    ++colours[picture.colours[picture.right]];
  }
  for (const auto& [place, count] : places) EXPECT_NEAR(count, 500, 80) << place;
  for (const auto& [colour, count] : colours) EXPECT_NEAR(count, 400, 75) << colour;
}

LoaderOptions plain_loading(bool training, int workers) {
  LoaderOptions options;
  options.batch = 4;
  options.training = training;
  options.workers = workers;
  options.augmentation.crop = Crop::kNone;
  options.augmentation.flip = 0;
  options.augmentation.operations = 0;
  options.augmentation.mix_probability = 0;
  options.augmentation.erasing = 0;
  options.preprocessing.size = 32;
  return options;
}

std::map<int64_t, std::vector<float>> seen(Loader& loader, int64_t epoch) {
  std::map<int64_t, std::vector<float>> pictures;
  loader.start(epoch);
  const int64_t floats = 3 * 32 * 32;
  for (const Batch* batch = loader.next(); batch != nullptr; batch = loader.next()) {
    for (int64_t i = 0; i < batch->count; ++i) {
      const auto first = batch->pixels.begin() + i * floats;
      pictures[batch->indices[i]] = {first, first + floats};
    }
  }
  return pictures;
}

TEST(Cue, TrainingSeesNewPicturesInEveryEpochWhateverTheWorkers) {
  DataRequest request;
  request.spec = "cue";
  request.limit = 8;
  Loader one(open_dataset(request), plain_loading(true, 1));
  Loader three(open_dataset(request), plain_loading(true, 3));
  const auto first = seen(one, 0);
  const auto second = seen(one, 1);
  ASSERT_EQ(first.size(), 8u);
  for (const auto& [index, pixels] : first) EXPECT_NE(pixels, second.at(index));
  EXPECT_EQ(second, seen(three, 1));
}

TEST(Cue, ValidationSeesTheSamePicturesAlways) {
  DataRequest request;
  request.spec = "cue";
  request.split = Split::kValidation;
  request.limit = 8;
  Loader loader(open_dataset(request), plain_loading(false, 2));
  EXPECT_EQ(seen(loader, 0), seen(loader, 1));
}

TEST(Cue, TooSmallAPictureAndAFolderAreRefused) {
  DataRequest request;
  request.spec = "cue";
  request.size = 15;
  EXPECT_THAT(test::error_of([&] { open_dataset(request); }),
              testing::HasSubstr("cue needs at least 16 pixels a side, not 15"));
  request.spec = "cue:here";
  EXPECT_THAT(test::error_of([&] { open_dataset(request); }),
              testing::HasSubstr("drawn, not read"));
}

}  // namespace
}  // namespace soft
