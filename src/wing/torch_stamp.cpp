// The wing's stamp, for whoever reads the library's file (wing/stamp.h).
#include "wing_stamp.h"

extern "C" __attribute__((visibility("default"), used)) const char soft_torch_stamp[] =
    "soft torch wing, stamp " SOFT_WING_STAMP;
