# What is installed, in four parts (cmake/package.cmake makes a package of each): the program with its libraries
# and the model in the box, the torch wing, what programs are built with, and the Python module. `program`
# builds all of it, so that an installation is never half of one.
set(installed libsoft soft)
if(SOFT_TORCH)
  list(APPEND installed soft_torch soft_ops)
endif()
if(SOFT_ONNX)
  list(APPEND installed soft_onnx)
endif()
if(TARGET soft_python)
  list(APPEND installed soft_python)
endif()
if(NOT SOFT_SANITIZE AND NOT SOFT_TSAN AND NOT SOFT_FUZZ)  # whose programs are not installed
  include(cmake/manual.cmake)
  list(APPEND installed soft_manual)
endif()
add_custom_target(program DEPENDS ${installed})

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/soft)
install(TARGETS soft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS libsoft soft_inside EXPORT soft_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT program NAMELINK_COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/soft COMPONENT program
  FILES_MATCHING PATTERN "*.safetensors")
if(SOFT_ONNX)
  install(TARGETS soft_onnx LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program)
endif()
if(SOFT_TORCH)
  install(TARGETS soft_torch soft_ops LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT torch)
endif()

install(DIRECTORY include/soft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT soft_targets NAMESPACE soft:: DESTINATION ${package_folder} COMPONENT dev)
configure_package_config_file(cmake/soft-config.cmake.in ${CMAKE_BINARY_DIR}/soft-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/soft-config-version.cmake
  COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH SOFT_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/soft.pc.in ${CMAKE_BINARY_DIR}/soft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/soft-config.cmake ${CMAKE_BINARY_DIR}/soft-config-version.cmake
  DESTINATION ${package_folder} COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/soft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
