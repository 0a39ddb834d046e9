# Flags that every target of the project gets: warnings, sanitizers, hidden symbols in shared objects.
add_library(circoll_flags INTERFACE)
target_compile_options(circoll_flags INTERFACE -Wall -Wextra -Wconversion -fvisibility=hidden)
# g++ 12 sees overlapping copies in every `"literal" + std::string` at -O3 (GCC bug 105651).
target_compile_options(circoll_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CIRCOLL_WARNINGS_AS_ERRORS)
  target_compile_options(circoll_flags INTERFACE -Werror)
endif()
if(CIRCOLL_SANITIZE)
  target_compile_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE})
endif()
