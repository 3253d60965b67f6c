find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # Beast and Asio: headers only
find_package(hwy REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(WebP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)

# oneDNN's own package file asks for OpenCL headers that a CPU build does not need.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h DNNL_MAJOR REGEX "define DNNL_VERSION_MAJOR")
string(REGEX MATCH "[0-9]+" DNNL_MAJOR "${DNNL_MAJOR}")
if(NOT DNNL_MAJOR MATCHES "^[23]$")
  message(FATAL_ERROR "oneDNN ${DNNL_MAJOR} in ${DNNL_INCLUDE_DIR}: versions 2 and 3 are known "
    "(src/engine/onednn.h); install libdnnl-dev, or set DNNL_INCLUDE_DIR and DNNL_LIBRARY")
endif()
add_library(soft_dnnl INTERFACE)
target_include_directories(soft_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(soft_dnnl INTERFACE ${DNNL_LIBRARY})

if(SOFT_ONNX)  # its own package file asks for a static library that Debian does not have
  find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h REQUIRED)
  find_library(ONNX_LIBRARY onnx REQUIRED)
  find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
  find_package(Protobuf REQUIRED)
  add_library(soft_libonnx INTERFACE)
  target_include_directories(soft_libonnx SYSTEM INTERFACE ${ONNX_INCLUDE_DIR})
  target_compile_definitions(soft_libonnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
  target_link_libraries(soft_libonnx INTERFACE ${ONNX_LIBRARY} ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)
endif()

if(SOFT_TORCH)
  find_package(Torch REQUIRED)
  find_path(GLOO_INCLUDE_DIR gloo/context.h REQUIRED)  # LibTorch has Gloo inside, but not its headers
  # The OpenMP build of OpenBLAS shares its threads with LibTorch; the pthread build, which may be the
  # system's default, does not. Linked by path, it is reused by LibTorch through its SONAME.
  find_library(OPENBLAS_OPENMP_BLAS NAMES libblas.so.3 REQUIRED NO_DEFAULT_PATH
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
  find_library(OPENBLAS_OPENMP_LAPACK NAMES liblapack.so.3 REQUIRED NO_DEFAULT_PATH
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp)
  get_filename_component(OPENBLAS_OPENMP_DIR ${OPENBLAS_OPENMP_BLAS} DIRECTORY)
  add_library(soft_libtorch INTERFACE)
  target_include_directories(soft_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS} ${GLOO_INCLUDE_DIR})
  # GCC 13 and 14 see an overflow that is none where LibTorch's Function::apply reserves a vector<bool>.
  target_compile_options(soft_libtorch INTERFACE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds;-Wno-stringop-overflow>")
  target_link_libraries(soft_libtorch INTERFACE
    -Wl,--no-as-needed ${OPENBLAS_OPENMP_BLAS} ${OPENBLAS_OPENMP_LAPACK} -Wl,--as-needed
    ${TORCH_LIBRARIES})
endif()

if(SOFT_TESTS)
  find_package(GTest REQUIRED)
endif()
