# What is installed. `program` builds all of it, so that an installation is never half of one.
set(installed libsoft soft)
if(SOFT_TORCH)
  list(APPEND installed soft_torch soft_ops)
endif()
add_custom_target(program DEPENDS ${installed})

include(CMakePackageConfigHelpers)
install(TARGETS libsoft EXPORT soft_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/soft)
install(TARGETS soft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(room ${SOFT_LIBRARY_ROOMS})
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room})
    install(DIRECTORY src/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/soft
      FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
if(SOFT_TORCH)
  install(TARGETS soft_torch soft_ops LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT soft_targets NAMESPACE soft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/soft)
configure_package_config_file(cmake/soft-config.cmake.in ${CMAKE_BINARY_DIR}/soft-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/soft)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/soft-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/soft-config.cmake ${CMAKE_BINARY_DIR}/soft-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/soft)
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/soft FILES_MATCHING PATTERN "*.safetensors")
