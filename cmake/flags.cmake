# Flags for our own code only; dependencies are SYSTEM includes.
add_library(soft_flags INTERFACE)
target_compile_options(soft_flags INTERFACE -Wall -Wextra)
if(SOFT_WERROR)
  target_compile_options(soft_flags INTERFACE -Werror)
endif()
if(SOFT_SANITIZE)
  # GCC's maybe-uninitialized warning misfires inside the standard library under the sanitizers.
  target_compile_options(soft_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    -Wno-maybe-uninitialized)
  target_link_options(soft_flags INTERFACE -fsanitize=address,undefined)
endif()
