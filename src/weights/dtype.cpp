// Element types and their conversions. Narrowing rounds to nearest, ties to even.
#include "weights/dtype.h"

#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/npy.h"
#include "weights/weights.h"

namespace soft {
namespace {

template <class To, class From>
To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Reads element by element, since a view into a file may not be aligned.
template <class Stored, class Convert>
void convert(const TensorView& tensor, float* out, Convert to_float) {
  const int64_t count = tensor.elements();
  for (int64_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, tensor.data + i * sizeof(Stored), sizeof(Stored));
    out[i] = to_float(stored);
  }
}

struct TypeRow {
  std::string_view name;
  size_t size;
};
constexpr std::array<TypeRow, 8> kTypes{{{"F32", 4},
                                         {"F16", 2},
                                         {"BF16", 2},
                                         {"F64", 8},
                                         {"I64", 8},
                                         {"I32", 4},
                                         {"U8", 1},
                                         {"I8", 1}}};

}  // namespace

size_t size_of(DType type) { return kTypes[static_cast<size_t>(type)].size; }
std::string_view name_of(DType type) { return kTypes[static_cast<size_t>(type)].name; }

DType dtype_of(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DType>(i);
  }
  fail("unknown element type '{}'; F32, F16, BF16, F64, I64, I32, U8 and I8 are read", name);
}

bool is_floating(DType type) {
  return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16 || type == DType::kF64;
}

int64_t TensorView::elements() const {
  int64_t count = 1;
  for (int64_t side : shape) count *= side;
  return count;
}

size_t TensorView::bytes() const { return static_cast<size_t>(elements()) * size_of(type); }

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: fraction · 2^-24 is exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return bit_cast<float>(sign | bit_cast<uint32_t>(magnitude));
  }
  const uint32_t widened = exponent == 31 ? 255 : exponent + 127 - 15;
  return bit_cast<float>(sign | widened << 23 | fraction << 13);
}

uint16_t float_to_half(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // from 65520: inf
  if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-24
    // Adding 0.5 leaves exactly those multiples in the low bits, rounded by the adder itself.
    const float shifted = bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = magnitude >> 13 & 1u;
  const uint32_t rebiased = magnitude - ((127u - 15u) << 23);
  return static_cast<uint16_t>(sign | (rebiased + 0xfffu + odd) >> 13);
}

float bfloat_to_float(uint16_t bfloat) {
  return bit_cast<float>(static_cast<uint32_t>(bfloat) << 16);
}

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40u);  // stays a NaN
  const uint32_t odd = bits >> 16 & 1u;
  return static_cast<uint16_t>((bits + 0x7fffu + odd) >> 16);
}

void copy_floats(const TensorView& tensor, float* out) {
  switch (tensor.type) {
    case DType::kF32:
      if (tensor.bytes() > 0) std::memcpy(out, tensor.data, tensor.bytes());
      return;
    case DType::kF16:
      return convert<uint16_t>(tensor, out, half_to_float);
    case DType::kBF16:
      return convert<uint16_t>(tensor, out, bfloat_to_float);
    case DType::kF64:
      return convert<double>(tensor, out, [](double value) { return static_cast<float>(value); });
    case DType::kI64:
    case DType::kI32:
    case DType::kU8:
    case DType::kI8:
      break;
  }
  fail("a tensor of shape {} holds {} values where floating-point ones are needed",
       shape_text(tensor.shape), name_of(tensor.type));
}

std::vector<float> to_floats(const TensorView& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  copy_floats(tensor, values.data());
  return values;
}

}  // namespace soft
