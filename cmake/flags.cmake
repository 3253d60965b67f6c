# Flags for our own code only; dependencies are SYSTEM includes.
add_library(soft_flags INTERFACE)
target_compile_options(soft_flags INTERFACE -Wall -Wextra)
if(SOFT_WERROR)
  target_compile_options(soft_flags INTERFACE -Werror)
endif()
if(SOFT_SANITIZE)
  # GCC's maybe-uninitialized warning misfires inside the standard library under the sanitizers; the check of
  # vptr opens a pipe, and takes the lack of descriptors for a broken object.
  target_compile_options(soft_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(soft_flags INTERFACE -fsanitize=address,undefined)
endif()
if(SOFT_TSAN)
  target_compile_options(soft_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(soft_flags INTERFACE -fsanitize=thread)
  target_compile_definitions(soft_flags INTERFACE HWY_COMPILE_ONLY_STATIC)  # one instruction set will do
endif()
if(SOFT_FUZZ)
  target_compile_options(soft_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_compile_definitions(soft_flags INTERFACE HWY_COMPILE_ONLY_STATIC)  # one instruction set will do
endif()
# SIMD kernels are compiled for AVX-512, AVX2, SSE4, NEON and plain C++. Left out: SSSE3 and the DL variant of
# AVX-512, which bring them nothing, and SVE, whose sizeless vectors cannot stand in arrays of accumulators.
set(disabled "HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128")
if(SOFT_SANITIZE)  # one wide and one narrow set show the same faults in half the time
  string(APPEND disabled "|HWY_AVX3|HWY_SSE4")
endif()
target_compile_definitions(soft_flags INTERFACE "HWY_DISABLED_TARGETS=(${disabled})")
