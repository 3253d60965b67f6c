// Behind the public face: what its pointers point to, and how what the house throws leaves it.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "facade/runner.h"
#include "image/image.h"
#include "image/transform.h"
#include "soft/soft.h"

namespace soft {

struct Picture::Pixels {
  Image image;
};

struct Model::Inside {
  Runner runner;
  ModelCard card;
  Preprocessing preprocessing;
  int threads = 0;
};

ModelCard card_for(const soft::Card& card);
Cost cost_for(const ModelSpec& spec, int64_t height, int64_t width);
std::vector<std::string> texts_of(const Settings& settings);  // key=value

// Runs what a caller asked for. A path that the system refuses is an Error like all others.
template <class Ask>
auto answered(const Ask& ask) {
  try {
    return ask();
  } catch (const std::filesystem::filesystem_error& error) {
    fail("'{}': {}", error.path1().string(), error.code().message());
  }
}

}  // namespace soft
