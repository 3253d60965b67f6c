// The minis of tests/golden/zoo: small models of every family of the zoo, with weights under
// published names and what the public implementations answer (input, logits; in two files input2,
// logits2).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "spec/model_spec.h"
#include "support/support.h"
#include "weights/published.h"
#include "weights/weights.h"

namespace soft::test {

struct Mini {
  std::string file;
  std::string row;                    // of the table
  std::vector<std::string> settings;  // that make it small
};

inline std::vector<Mini> minis() {
  const std::vector<std::string> flat{"image_size=32", "patch=8", "dim=32", "heads=4"};
  const auto with = [](std::vector<std::string> settings, const std::vector<std::string>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  return {
      {"resnet_basic", "resnet-18", {"stem=8", "planes=8,16,24,32", "depths=1,2,1,1"}},
      {"resnet_bottleneck", "resnet-50", {"stem=8", "planes=4,8,12,16", "depths=1,2,1,1"}},
      {"regnety",
       "regnety-4gf",
       {"stem=8", "widths=16,24,40,64", "depths=1,1,2,2", "group_width=8"}},
      {"san_pairwise",
       "san10-pairwise",
       {"stem=32", "widths=32,64,64,96,128", "depths=1,1,1,2,1", "kernels=3,7,7,7,3"}},
      {"san_patchwise",
       "san10",
       {"stem=32", "widths=32,64,64,96,128", "depths=1,1,1,2,1", "kernels=3,7,7,7,3"}},
      {"lambda_resnet",
       "lambda-resnet-50",
       {"stem=8", "planes=4,8,8,16", "depths=1,2,1,1", "keys=4", "heads=2", "intra_depth=3",
        "scope=5"}},
      {"botnet",
       "botnet-s1-110",
       {"stem=8", "planes=4,8,12,16", "depths=1,1,2,2", "trained=64,96"}},
      {"deit", "deit-small", with(flat, {"depth=3"})},
      {"vit_small_old", "vit-small-16", with(flat, {"depth=2"})},
      {"cpvt", "cpvt-small", with(flat, {"depth=3"})},
      {"t2t", "t2t-vit-t-14", {"image_size=64", "token_dim=8", "dim=32", "depth=2", "heads=4"}},
      {"cait", "cait-s36", with(flat, {"depth=2", "trained=32,48"})},
      {"pvt", "pvt-tiny", {"image_size=64", "dims=8,16,24,32", "heads=1,2,3,4", "depths=1,2,1,1"}},
      {"twins_svt",
       "twins-svt-s",
       {"dims=8,16,24,32", "heads=2,4,3,4", "depths=2,2,3,2", "windows=4,4,2,2"}},
      {"coat_lite", "coat-lite-mini", {"dims=16,16,24,32", "depths=1,2,1,1"}},
      {"swin",
       "swin-b",
       {"image_size=128", "dim=6", "depths=2,2,2,1", "heads=1,2,3,4", "window=4",
        "trained=64,128"}},
  };
}

inline ModelSpec spec_of(const Mini& mini) {
  ModelSpec spec = find_model(mini.row);
  for (const std::string& setting : mini.settings) apply_setting(spec, setting);
  set_field(spec, "classes", "10");
  return spec;
}

// The mini's weights alone, as a published file would hold them.
inline Weights published_weights(const Mini& mini) {
  const Weights file = read_weights(golden("zoo/" + mini.file + ".safetensors"));
  const std::string prefix = "weights.";
  Weights weights;
  weights.path = mini.file;
  weights.storage = file.storage;
  for (const auto& [name, view] : file.tensors) {
    if (name.rfind(prefix, 0) == 0) weights.tensors[name.substr(prefix.size())] = view;
  }
  return with_our_names(std::move(weights));
}

}  // namespace soft::test
