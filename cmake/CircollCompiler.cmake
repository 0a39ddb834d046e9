# Flags that every target of the project gets: warnings, sanitizers, hidden symbols in shared objects.
add_library(circoll_flags INTERFACE)
target_compile_options(circoll_flags INTERFACE -Wall -Wextra -Wconversion -fvisibility=hidden)
if(CIRCOLL_WARNINGS_AS_ERRORS)
  target_compile_options(circoll_flags INTERFACE -Werror)
endif()
if(CIRCOLL_SANITIZE)
  target_compile_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE})
endif()
