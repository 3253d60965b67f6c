// A vector of bytes and what products of them need, for each instruction set.
#if defined(SOFT_KERNELS_INT8_LANE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFT_KERNELS_INT8_LANE_INL_H_
#undef SOFT_KERNELS_INT8_LANE_INL_H_
#else
#define SOFT_KERNELS_INT8_LANE_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace soft {
namespace HWY_NAMESPACE {

// What a target must offer: products of bytes added in pairs to 16 bits, and those in pairs to 32.
#if HWY_TARGET <= HWY_AVX3
struct ByteLane {
  using Vec = __m512i;
  static constexpr bool kDots = false;
  static constexpr int kColumns = 16;          // of a vector
  static constexpr int kVecs = 1, kRows = 12;  // of a tile in registers
  static HWY_INLINE Vec zero() { return _mm512_setzero_si512(); }
  static HWY_INLINE Vec load(const int8_t* p) { return _mm512_loadu_si512(p); }
  static HWY_INLINE Vec spread(int32_t four) { return _mm512_set1_epi32(four); }
  static HWY_INLINE Vec pairs(Vec a, Vec w) { return _mm512_maddubs_epi16(a, w); }
  static HWY_INLINE Vec add16(Vec a, Vec b) { return _mm512_add_epi16(a, b); }
  static HWY_INLINE Vec add32(Vec a, Vec b) { return _mm512_add_epi32(a, b); }
  static HWY_INLINE Vec widen(Vec v) { return _mm512_madd_epi16(v, _mm512_set1_epi16(1)); }
  static HWY_INLINE void store(Vec v, int32_t* p) { _mm512_storeu_si512(p, v); }
};
#elif HWY_TARGET == HWY_AVX2
struct ByteLane {
  using Vec = __m256i;
  static constexpr bool kDots = false;
  static constexpr int kColumns = 8;
  static constexpr int kVecs = 2, kRows = 4;
  static HWY_INLINE Vec zero() { return _mm256_setzero_si256(); }
  static HWY_INLINE Vec load(const int8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static HWY_INLINE Vec spread(int32_t four) { return _mm256_set1_epi32(four); }
  static HWY_INLINE Vec pairs(Vec a, Vec w) { return _mm256_maddubs_epi16(a, w); }
  static HWY_INLINE Vec add16(Vec a, Vec b) { return _mm256_add_epi16(a, b); }
  static HWY_INLINE Vec add32(Vec a, Vec b) { return _mm256_add_epi32(a, b); }
  static HWY_INLINE Vec widen(Vec v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }
  static HWY_INLINE void store(Vec v, int32_t* p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
};
#elif HWY_TARGET == HWY_SSE4
struct ByteLane {
  using Vec = __m128i;
  static constexpr bool kDots = false;
  static constexpr int kColumns = 4;
  static constexpr int kVecs = 2, kRows = 4;
  static HWY_INLINE Vec zero() { return _mm_setzero_si128(); }
  static HWY_INLINE Vec load(const int8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static HWY_INLINE Vec spread(int32_t four) { return _mm_set1_epi32(four); }
  static HWY_INLINE Vec pairs(Vec a, Vec w) { return _mm_maddubs_epi16(a, w); }
  static HWY_INLINE Vec add16(Vec a, Vec b) { return _mm_add_epi16(a, b); }
  static HWY_INLINE Vec add32(Vec a, Vec b) { return _mm_add_epi32(a, b); }
  static HWY_INLINE Vec widen(Vec v) { return _mm_madd_epi16(v, _mm_set1_epi16(1)); }
  static HWY_INLINE void store(Vec v, int32_t* p) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
  }
};
#else  // any other machine: one column in plain C++
struct ByteLane {
  struct Vec {
    int32_t low = 0, high = 0;  // as far as they have been added up
    int8_t bytes[4] = {};
  };
  static constexpr bool kDots = false;
  static constexpr int kColumns = 1, kVecs = 1, kRows = 1;
  static HWY_INLINE Vec zero() { return {}; }
  static HWY_INLINE Vec load(const int8_t* p) { return {0, 0, {p[0], p[1], p[2], p[3]}}; }
  static HWY_INLINE Vec spread(int32_t four) {
    Vec v;
    std::memcpy(v.bytes, &four, sizeof four);
    return v;
  }
  static HWY_INLINE int product(const Vec& a, const Vec& w, int i) {
    return static_cast<uint8_t>(a.bytes[i]) * w.bytes[i];
  }
  static HWY_INLINE Vec pairs(const Vec& a, const Vec& w) {
    return {product(a, w, 0) + product(a, w, 1), product(a, w, 2) + product(a, w, 3), {}};
  }
  static HWY_INLINE Vec add16(const Vec& a, const Vec& b) {
    return {a.low + b.low, a.high + b.high, {}};
  }
  static HWY_INLINE Vec add32(const Vec& a, const Vec& b) { return add16(a, b); }
  static HWY_INLINE Vec widen(const Vec& v) { return {v.low + v.high, 0, {}}; }
  static HWY_INLINE void store(const Vec& v, int32_t* p) { *p = v.low; }
};
#endif

// Four products added to 32 bits at once.
#if HWY_TARGET <= HWY_AVX3
struct DotLane {
  using Vec = __m512i;
  static constexpr bool kDots = true;
  static constexpr int kColumns = 16;
  static constexpr int kVecs = 4, kRows = 6;
  static HWY_INLINE Vec zero() { return _mm512_setzero_si512(); }
  static HWY_INLINE Vec load(const int8_t* p) { return _mm512_loadu_si512(p); }
  static HWY_INLINE Vec spread(int32_t four) { return _mm512_set1_epi32(four); }
  // By its name, since none of Highway's targets has VNNI and nothing that some of its owners lack.
  static HWY_INLINE Vec add_dot(Vec sum, Vec a, Vec w) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(w));
    return sum;
  }
  static HWY_INLINE void store(Vec v, int32_t* p) { _mm512_storeu_si512(p, v); }
};
HWY_INLINE bool has_dots() { return __builtin_cpu_supports("avx512vnni") != 0; }
#else
using DotLane = ByteLane;
HWY_INLINE bool has_dots() { return false; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace soft
HWY_AFTER_NAMESPACE();

#endif
