# What every target of the project gets: ccache, clang-tidy, warnings, sanitizers, hidden symbols.
if(CIRCOLL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CIRCOLL_CCACHE_PROGRAM ccache)
  mark_as_advanced(CIRCOLL_CCACHE_PROGRAM)
  if(CIRCOLL_CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER ${CIRCOLL_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CIRCOLL_CCACHE_PROGRAM})
  endif()
endif()
if(CIRCOLL_TIDY)
  # One version: checks come and go with versions, and findings are errors.
  find_program(CIRCOLL_TIDY_PROGRAM NAMES clang-tidy-14 clang-tidy REQUIRED)
  mark_as_advanced(CIRCOLL_TIDY_PROGRAM)
  set(CMAKE_CXX_CLANG_TIDY ${CIRCOLL_TIDY_PROGRAM} --quiet)
endif()

add_library(circoll_flags INTERFACE)
target_compile_options(circoll_flags INTERFACE -Wall -Wextra -Wconversion)
# A shared libcircoll exports its symbols. In static libraries they stay hidden, so that the drop-in, which
# contains one, adds none to the program that it is loaded into.
target_compile_options(circoll_flags INTERFACE $<$<NOT:$<BOOL:${BUILD_SHARED_LIBS}>>:-fvisibility=hidden>)
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
# Commands and tests are seldom hot; most of what they compile is headers of libraries, which instrumented and
# optimised takes long.
add_library(circoll_cold INTERFACE)
if(CIRCOLL_SANITIZE)
  target_compile_options(circoll_cold INTERFACE -O0)
endif()
