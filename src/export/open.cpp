#include "export/export.h"
#include "wing/library.h"

namespace soft {

Exported export_onnx(const ExportRequest& request) {
  using Entry = const OnnxWing* (*)();
  static const OnnxWing* wing =
      reinterpret_cast<Entry>(wing_entry("libsoft_onnx.so", "soft_onnx_wing"))();
  return wing->write(request);
}

}  // namespace soft
