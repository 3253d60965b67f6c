#include "weights/published.h"

#include <cmath>
#include <regex>
#include <string_view>
#include <utility>

namespace soft {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_left_out(const std::string& name) {
  if (ends_with(name, ".relative_position_index") || ends_with(name, ".attn_mask")) {
    return true;
  }
  const bool serial = name.rfind("serial_blocks", 0) == 0;
  return serial && (name.find(".cpe.") != std::string::npos ||
                    name.find(".factoratt_crpe.crpe.") != std::string::npos);
}

struct Renaming {
  std::regex pattern;
  const char* replacement;
};

// torchvision's RegNet: trunk_output.block2.block2-0.f.b.1 is timm's s2.b1.conv2.bn.
std::string as_timm_regnet(std::string name) {
  static const std::regex block(R"(^trunk_output\.block(\d+)\.block\d+-(\d+)\.(.*)$)");
  std::smatch match;
  if (std::regex_match(name, match, block)) {
    name = "s" + match[1].str() + ".b" + std::to_string(std::stoi(match[2].str()) + 1) + "." +
           match[3].str();
  }
  static const Renaming renamings[] = {
      {std::regex(R"(^stem\.0\.)"), "stem.conv."},
      {std::regex(R"(^stem\.1\.)"), "stem.bn."},
      {std::regex(R"(\.f\.a\.0\.)"), ".conv1.conv."},
      {std::regex(R"(\.f\.a\.1\.)"), ".conv1.bn."},
      {std::regex(R"(\.f\.b\.0\.)"), ".conv2.conv."},
      {std::regex(R"(\.f\.b\.1\.)"), ".conv2.bn."},
      {std::regex(R"(\.f\.c\.0\.)"), ".conv3.conv."},
      {std::regex(R"(\.f\.c\.1\.)"), ".conv3.bn."},
      {std::regex(R"(\.f\.se\.)"), ".se."},
      {std::regex(R"(\.proj\.0\.)"), ".downsample.conv."},
      {std::regex(R"(\.proj\.1\.)"), ".downsample.bn."},
      {std::regex(R"(^fc\.)"), "head.fc."},
  };
  for (const Renaming& renaming : renamings) {
    name = std::regex_replace(name, renaming.pattern, renaming.replacement);
  }
  return name;
}

// [C, 3 p²] is [C, 3, p, p]: channel, row, column.
void unfold_patches(Weights& weights) {
  const auto found = weights.tensors.find("patch_embed.proj.weight");
  if (found == weights.tensors.end() || found->second.shape.size() != 2) return;
  const int64_t columns = found->second.shape[1];
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(columns / 3)));
  if (columns == 3 * side * side) found->second.shape = {found->second.shape[0], 3, side, side};
}

}  // namespace

Weights with_our_names(Weights weights) {
  bool torchvision = false;
  for (const auto& [name, view] : weights.tensors) {
    torchvision = torchvision || name.find("trunk_output.") != std::string::npos;
  }
  std::map<std::string, TensorView> ours;
  for (auto& [name, view] : weights.tensors) {
    if (is_left_out(name)) continue;
    ours.emplace(torchvision ? as_timm_regnet(name) : name, std::move(view));
  }
  weights.tensors = std::move(ours);
  unfold_patches(weights);
  return weights;
}

}  // namespace soft
