// The names of ImageNet's 1000 classes: what a published checkpoint means by its class indices.
#pragma once

#include <string>
#include <vector>

namespace soft {

constexpr int kImagenetClasses = 1000;

std::vector<std::string> imagenet_names();  // in the order of their indices

}  // namespace soft
