// From a model's description and weights to an ONNX file: opset 17, any batch, one picture size,
// batch norm folded into convolutions. What the graph cannot hold is in its metadata: class names,
// the preprocessing of pictures, and that a Newton inverse which does not converge is not solved
// exactly.
#pragma once

#include <string>

#include "base/grid.h"
#include "weights/weights.h"

namespace soft {

struct ExportRequest {
  Weights weights;  // fit the card's spec
  Card card;
  Grid size;           // of the pictures
  std::string path;    // of the .onnx file
  bool check = false;  // with ONNX's own checker, before anything is written
};

struct Exported {
  int64_t nodes = 0;
  int64_t bytes = 0;
};

// libsoft_onnx.so, which holds ONNX and is opened when something is first exported.
struct OnnxWing {
  Exported (*write)(const ExportRequest&);
};

Exported export_onnx(const ExportRequest& request);

}  // namespace soft
