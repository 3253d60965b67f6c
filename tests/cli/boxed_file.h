// A folder of models in the box for the program to find, in place of those it comes with.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "cli/weights_file.h"
#include "support/support.h"

namespace soft::test {

// A model of cue's kind that nobody trained: flat, with the row sums that work.
inline ModelSpec cue_spec() {
  ModelSpec spec = find_model("vit-small-384x12");
  for (const char* setting :
       {"image_size=32", "patch=4", "dims=24", "heads=2", "depths=2", "ratios=2", "classes=5",
        "attention=soft", "value_path=off", "kernel_scale=paper", "normalise=rows"}) {
    apply_setting(spec, setting);
  }
  return spec;
}

// While it lives, programs started here look for the models in the box in its folder.
class BoxFolder {
 public:
  BoxFolder() { setenv("SOFT_MODELS", folder_.path().c_str(), 1); }
  ~BoxFolder() { unsetenv("SOFT_MODELS"); }
  BoxFolder(const BoxFolder&) = delete;
  BoxFolder& operator=(const BoxFolder&) = delete;

  void add_cue() const {
    write_weights(folder_.path("soft-cue.safetensors"), cue_spec(),
                  {"disc", "square", "triangle", "cross", "diamond"});
  }
  void add_cifar10() const {
    const char* file = "soft-nano-cifar10.safetensors";
    write_weights(folder_.path(file), find_model("soft-nano"));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace soft::test
