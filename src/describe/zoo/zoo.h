// The networks that the paper's Table 3 and Figure 1a place beside SOFT. A family is one file that
// writes its description from a row of numbers; everything else (counts, files, training, export)
// follows from the description.
//
// To add a family: its file here with a function `describe_NAME`, a line in kFamilies (zoo.cpp), a
// row for each published model (spec/zoo_table.cpp), and a mini with known logits in
// tests/golden/zoo.
#pragma once

#include <string>
#include <vector>

#include "describe/description.h"

namespace soft::zoo {

// The model of a spec that names one of the families; a usage error says what is wrong with its
// numbers or with the picture's size, and which would do.
Description describe(const ModelSpec& spec, Grid image);

// ---- The families
Description describe_resnet(const ModelSpec& spec, Grid image);
Description describe_lambda(const ModelSpec& spec, Grid image);
Description describe_botnet(const ModelSpec& spec, Grid image);
Description describe_regnet(const ModelSpec& spec, Grid image);
Description describe_san(const ModelSpec& spec, Grid image);
Description describe_vit(const ModelSpec& spec, Grid image);  // ViT, DeiT and CPVT
Description describe_t2t(const ModelSpec& spec, Grid image);
Description describe_cait(const ModelSpec& spec, Grid image);
Description describe_pvt(const ModelSpec& spec, Grid image);
Description describe_twins(const ModelSpec& spec, Grid image);
Description describe_coat(const ModelSpec& spec, Grid image);
Description describe_swin(const ModelSpec& spec, Grid image);

// Side of Swin's windows in a stage: a map that is smaller in training is one window.
int64_t swin_window(const ModelSpec& spec, int stage);

}  // namespace soft::zoo
