# The flags of every target of the project: ccache, clang-tidy, warnings, sanitizers, hidden symbols.
if(CIRCOLL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CIRCOLL_CCACHE_PROGRAM ccache)
  mark_as_advanced(CIRCOLL_CCACHE_PROGRAM)
  if(CIRCOLL_CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER ${CIRCOLL_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CIRCOLL_CCACHE_PROGRAM})
  endif()
endif()
if(CIRCOLL_TIDY)
  # All developers use one version of clang-tidy, because checks come and go with versions, and findings are errors.
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
# Two release builds in different folders give the same libraries (./check reproducible), so that no library may hold
# the path of its build.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(circoll_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
  # Archives do not keep times and owners either, as they do by binutils' own default.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(language C CXX)
      set(CMAKE_${language}_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
      set(CMAKE_${language}_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
      set(CMAKE_${language}_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
    endforeach()
  endif()
endif()
if(CIRCOLL_WARNINGS_AS_ERRORS)
  target_compile_options(circoll_flags INTERFACE -Werror)
endif()
if(CIRCOLL_SANITIZE)
  target_compile_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(circoll_flags INTERFACE -fsanitize=${CIRCOLL_SANITIZE})
endif()
# circoll_unity(TARGET SIZE): its sources are compiled, and seen by clang-tidy, SIZE at a time if CIRCOLL_UNITY is on.
# Most files take less time than the headers that they read.
function(circoll_unity target size)
  if(CIRCOLL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()
# Commands and tests are seldom hot. Most of the code that they compile is in headers of libraries, which take long to
# compile with instruments and optimisation.
add_library(circoll_cold INTERFACE)
if(CIRCOLL_SANITIZE)
  target_compile_options(circoll_cold INTERFACE -O0)
elseif(CMAKE_BUILD_TYPE MATCHES "^Rel")
  target_compile_options(circoll_cold INTERFACE -O1)
endif()
