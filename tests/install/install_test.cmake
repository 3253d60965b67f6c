# Installs the build into a fresh prefix, builds examples/count against it and runs both.
# Called by ctest with BUILD (the build folder), SOURCE (the project) and CONFIG (the build type).
set(scratch ${BUILD}/tests/install)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` failed (${code}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/count -B ${scratch}/count -G Ninja
  -DCMAKE_PREFIX_PATH=${scratch}/prefix -DCMAKE_BUILD_TYPE=${CONFIG})
run(${CMAKE_COMMAND} --build ${scratch}/count)

run(${scratch}/count/count soft-tiny)
if(NOT out STREQUAL "13069056\n")
  message(FATAL_ERROR "examples/count printed '${out}', not the parameters of soft-tiny")
endif()

run(${scratch}/prefix/bin/soft models soft-tiny)
if(NOT out MATCHES "13069056")
  message(FATAL_ERROR "the installed program printed '${out}'")
endif()
file(REMOVE_RECURSE ${scratch})
