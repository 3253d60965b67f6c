# Installs the build into a fresh prefix, builds the examples against it (with CMake, and with pkg-config alone) and
# runs them and the program. Called by ctest with BUILD (the build folder), SOURCE (the project), CONFIG (the
# build type), COMPILER, LIBDIR and PYTHON_DIR (below the prefix; the latter may be empty).
set(scratch ${BUILD}/tests/install)
set(prefix ${scratch}/prefix)
set(photo ${SOURCE}/data/photos/cat_chelsea.png)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` failed (${code}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect what pattern)
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: '${pattern}' is not in:\n${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

# The public headers alone are installed, and they ask for nothing but the standard library.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
if(NOT headers STREQUAL "soft/error.h;soft/soft.h;soft/version.h")
  message(FATAL_ERROR "installed headers: ${headers}")
endif()

# The library exports what they declare, and nothing of what it stands on.
file(GLOB library ${prefix}/${LIBDIR}/libsoft.so.*.*.*)
run(nm -D --defined-only --demangle ${library})
string(REGEX REPLACE "[^\n]* (soft::v0_2::|(typeinfo|typeinfo name|vtable) for soft::(Error|v0_2::))[^\n]*\n" "" rest "${out}")
string(REGEX REPLACE "[^\n]* A SOFT_0.2[^\n]*\n" "" rest "${rest}")
if(NOT rest STREQUAL "")
  message(FATAL_ERROR "${library} exports more than the interface:\n${rest}")
endif()
expect("exports" "soft::v0_2::Model::logits")

foreach(example classify count)
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/${example} -B ${scratch}/${example} -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=${CONFIG})
  run(${CMAKE_COMMAND} --build ${scratch}/${example})
endforeach()

run(${scratch}/count/count soft-tiny)
expect("examples/count" "^13069056\n$")
run(${scratch}/classify/classify ${SOURCE}/models/soft-nano-cifar10.safetensors ${photo})
expect("examples/classify" "cat_chelsea.png: cat \\(")

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(pkg-config --cflags --libs soft)
string(STRIP "${out}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${COMPILER} -std=c++17 -Wall -Wextra -Werror ${SOURCE}/examples/count/count.cpp -o ${scratch}/plain ${flags}
  -Wl,-rpath,${prefix}/${LIBDIR})
run(${scratch}/plain soft-tiny landmarks=36)
expect("with pkg-config" "^[0-9]+\n$")

# The program works where it is installed, the model in the box included.
run(${prefix}/bin/soft models soft-tiny)
expect("the installed program" "13069056")
run(${prefix}/bin/soft classify ${photo})
expect("the installed program" "cat")

if(PYTHON_DIR)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/${PYTHON_DIR} /usr/bin/python3 -c
    "import soft\nprint(soft.__file__, soft.load().classify('${photo}')[0])")
  expect("the installed module" "${PYTHON_DIR}/soft/__init__.py \\('cat'")
endif()
file(REMOVE_RECURSE ${scratch})
