# The Python module, for Debian's own Python, where pybind11 is installed. In the build tree it stands in python/
# (PYTHONPATH=build/release/python), installed in the folder where Python looks below the prefix.
set(PYBIND11_NOPYTHON ON)  # its headers alone
find_package(pybind11 CONFIG QUIET)
if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)  # Debian's, whatever else stands first in the PATH
endif()
find_package(Python3 QUIET COMPONENTS Interpreter Development.Module)
if(NOT pybind11_FOUND OR NOT Python3_FOUND)
  message(STATUS "no Python module: pybind11-dev or python3-dev is missing (scripts/setup installs them)")
  return()
endif()

set(python_name python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(python_name python3)
endif()
set(SOFT_PYTHON_DIR lib/${python_name}/dist-packages CACHE STRING "Where the Python module goes, below the prefix")
file(RELATIVE_PATH to_library /prefix/${SOFT_PYTHON_DIR}/soft /prefix/${CMAKE_INSTALL_LIBDIR})

set(python_folder ${CMAKE_BINARY_DIR}/python/soft)
add_library(soft_python MODULE src/python/module.cpp src/python/convert.cpp)
target_include_directories(soft_python PRIVATE src)
target_link_libraries(soft_python PRIVATE libsoft soft_flags Python3::Module pybind11::headers)
set_target_properties(soft_python PROPERTIES PREFIX "" OUTPUT_NAME _soft SUFFIX .${Python3_SOABI}.so
  CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${python_folder}
  BUILD_RPATH "$ORIGIN/../.." INSTALL_RPATH "$ORIGIN/${to_library}")
foreach(file __init__.py __init__.pyi py.typed)
  configure_file(src/python/soft/${file} ${python_folder}/${file} COPYONLY)
  install(FILES src/python/soft/${file} DESTINATION ${SOFT_PYTHON_DIR}/soft COMPONENT python)
endforeach()
install(TARGETS soft_python LIBRARY DESTINATION ${SOFT_PYTHON_DIR}/soft COMPONENT python)
