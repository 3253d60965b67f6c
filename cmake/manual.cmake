# Manual pages and the completion for bash, made by the program itself.
set(manual ${CMAKE_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/soft.bash
  COMMAND soft generate man ${manual}/man1
  COMMAND soft generate completion > ${manual}/soft.bash
  DEPENDS soft VERBATIM)
add_custom_target(soft_manual ALL DEPENDS ${manual}/soft.bash)
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${manual}/soft.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME soft
  COMPONENT program)
