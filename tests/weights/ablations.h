// Every row of the table, and every row with one setting changed: what layout and inference must
// cope with.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "describe/description.h"
#include "spec/model_spec.h"
#include "weights/weights.h"

namespace soft::test {

inline const std::vector<const char*>& single_settings() {
  static const std::vector<const char*> settings{"sampler=avg",
                                                 "sampler=random",
                                                 "sampler=biased",
                                                 "landmarks=36",
                                                 "landmarks=49",
                                                 "landmarks=64",
                                                 "overlap=off",
                                                 "pyramid=off",
                                                 "stage4=soft",
                                                 "value_path=off",
                                                 "norm=on",
                                                 "inverse=exact",
                                                 "inverse=newton-paper",
                                                 "newton_steps=5",
                                                 "attention=soft",
                                                 "attention=soft-norm",
                                                 "attention=soft-dense",
                                                 "attention=softmax",
                                                 "attention=gaussian",
                                                 "attention=gaussian-softmax",
                                                 "attention=linformer",
                                                 "attention=performer",
                                                 "attention=nystromformer",
                                                 "attention=reformer",
                                                 "class_token=on",
                                                 "class_token=off",
                                                 "layer=pre",
                                                 "layer=post",
                                                 "mlp_ratio=2",
                                                 "stem_dim=16",
                                                 "stem_strides=1,1,2",
                                                 "stem_strides=2,2,2",
                                                 "image_size=256",
                                                 "image_size=225",
                                                 "classes=10",
                                                 "patch=14",
                                                 "ratios=4,4,2,1",
                                                 "value_kernels=7,5,0,3",
                                                 "depths=1,3,20,4",
                                                 "heads=1,2,4,4",
                                                 "dims=32,64,96,128",
                                                 "ratios=4",
                                                 "heads=3",
                                                 "value_kernels=0"};
  return settings;
}

inline std::vector<ModelSpec> models_and_ablations() {
  std::vector<ModelSpec> specs;
  for (std::string_view name : model_names()) {
    specs.push_back(find_model(name));
    for (const char* setting : single_settings()) {
      ModelSpec spec = find_model(name);
      try {
        apply_setting(spec, setting);
        validate(spec);
      } catch (const Error&) {
        continue;  // not a setting of this row
      }
      spec.name += std::string(" ") + setting;
      specs.push_back(spec);
    }
  }
  return specs;
}

// A file's worth of shapes without any values.
inline Weights hollow_weights(const ModelSpec& spec) {
  Weights weights;
  weights.path = spec.name;
  for (const TensorShape& tensor : tensors_of(spec)) {
    weights.tensors[tensor.name] = {DType::kF32, tensor.shape, nullptr};
  }
  return weights;
}

}  // namespace soft::test
