// Element types by name, and single values between float32 and the two 16-bit types. Narrowing
// rounds to nearest, ties to even.
#pragma once

#include <cstdint>
#include <string_view>

#include "weights/weights.h"

namespace soft {

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);
float bfloat_to_float(uint16_t bfloat);
uint16_t float_to_bfloat(float value);

DType dtype_of(std::string_view name);  // "F32", …; an Error when unknown
bool is_floating(DType type);

}  // namespace soft
