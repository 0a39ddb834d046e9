# Toolchain of the sanitizer presets: clang, if it is there. It compiles sanitized code in less time than g++, and is a
# second opinion on the language.
find_program(CIRCOLL_CLANGXX NAMES clang++-14 clang++)
find_program(CIRCOLL_CLANG NAMES clang-14 clang)
mark_as_advanced(CIRCOLL_CLANGXX CIRCOLL_CLANG)
if(CIRCOLL_CLANGXX AND CIRCOLL_CLANG)
  set(CMAKE_CXX_COMPILER ${CIRCOLL_CLANGXX})
  set(CMAKE_C_COMPILER ${CIRCOLL_CLANG})
endif()
