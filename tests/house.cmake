# Tests of the source tree: allowed includes, the English, links, the installed package, and "an algorithm is one file".
add_test(NAME rooms COMMAND ${PROJECT_SOURCE_DIR}/dev/check-rooms ${PROJECT_SOURCE_DIR})
add_test(NAME rooms_refuse COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/rooms_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME road COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/road_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME links COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/links_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME english COMMAND ${PROJECT_SOURCE_DIR}/dev/check-english ${PROJECT_SOURCE_DIR})
add_test(NAME english_refuse
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/english_test.py ${PROJECT_SOURCE_DIR}/dev/check-english)
set_tests_properties(rooms rooms_refuse road links english english_refuse PROPERTIES LABELS house TIMEOUT 60)

# The same commands stand in the tool, its pages and the documents: printed commands, completions, manual pages.
if(NOT CIRCOLL_SANITIZE)
  set(words ${CMAKE_CURRENT_LIST_DIR}/words)
  add_test(NAME printed_commands COMMAND python3 ${words}/commands_test.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:circoll_cli>)
  add_test(NAME manual_pages COMMAND python3 ${words}/manual_test.py $<TARGET_FILE:circoll_cli>)
  add_test(NAME bench_command COMMAND python3 ${words}/bench_command_test.py $<TARGET_FILE:circoll_cli>)
  add_test(NAME compare_command COMMAND python3 ${words}/compare_command_test.py $<TARGET_FILE:circoll_cli>)
  set_tests_properties(printed_commands bench_command compare_command PROPERTIES LABELS house TIMEOUT 600)
  foreach(shell bash zsh fish)
    add_test(NAME completions_${shell} COMMAND python3 ${words}/completions_test.py ${shell} $<TARGET_FILE:circoll_cli>)
    set_tests_properties(completions_${shell} PROPERTIES LABELS house TIMEOUT 300 SKIP_RETURN_CODE 77)
  endforeach()
  set_tests_properties(manual_pages PROPERTIES LABELS house TIMEOUT 120 SKIP_RETURN_CODE 77)
  # The commands of README really run, with two ranks of Open MPI.
  if(TARGET circoll_dropin_openmpi)
    add_test(NAME readme_commands COMMAND python3 ${words}/readme_test.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    # So do those of the road from a Python script to a program, with four.
    add_test(NAME own_schedule COMMAND python3 ${words}/own_schedule_test.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(readme_commands own_schedule PROPERTIES LABELS house TIMEOUT 900 RUN_SERIAL ON SKIP_RETURN_CODE 77)
  endif()
endif()

add_test(NAME quickstart COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/words/quickstart_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(quickstart PROPERTIES LABELS house TIMEOUT 60)

# All tests, experiments and examples launch ranks by one script.
add_test(NAME launch COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/mpi/launch_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(launch PROPERTIES LABELS house TIMEOUT 60)

# Recipes for clusters compile, and name things that exist.
add_test(NAME packaging COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/packaging/packaging_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(packaging PROPERTIES LABELS house TIMEOUT 120)
add_test(NAME modulefile COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/packaging/modulefile_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(modulefile PROPERTIES LABELS house TIMEOUT 120 SKIP_RETURN_CODE 77)

# A list names the C functions that libraries export. Sanitizers add names of their own.
if(NOT CIRCOLL_SANITIZE)
  set(abi ${CMAKE_CURRENT_LIST_DIR}/abi)
  function(circoll_abi_test name list target)
    add_test(NAME abi_${name} COMMAND python3 ${abi}/symbols_test.py ${abi}/${list}.symbols $<TARGET_FILE:${target}> ${ARGN})
    set_tests_properties(abi_${name} PROPERTIES LABELS house TIMEOUT 60 SKIP_RETURN_CODE 77)
  endfunction()
  set(c_header --header ${PROJECT_SOURCE_DIR}/core/include/circoll/circoll.h)
  circoll_abi_test(libcircoll libcircoll circoll ${c_header} --without circoll_mpi_)
  foreach(mpi openmpi mpich abi)
    if(TARGET circoll_${mpi})
      circoll_abi_test(libcircoll_${mpi} libcircoll_mpi circoll_${mpi} ${c_header} --prefix circoll_mpi_)
      circoll_abi_test(drop_in_${mpi} drop_in_${mpi} circoll_dropin_${mpi} --version=${mpi_${mpi}_VERSION}
                       --header ${PROJECT_SOURCE_DIR}/core/include/circoll/survive.h)
    endif()
  endforeach()
endif()

# Wrong calls of the typed API, and the tables of signatures.
if(NOT CIRCOLL_SANITIZE)
  add_test(NAME wrong_calls COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/wrong_calls_test.py ${CMAKE_CXX_COMPILER}
                                    ${PROJECT_SOURCE_DIR}/core/include)
  set_tests_properties(wrong_calls PROPERTIES LABELS house TIMEOUT 600)
endif()
add_test(NAME signatures COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/signatures_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(signatures PROPERTIES LABELS house TIMEOUT 60)

# Every public header compiles alone, with nothing before it.
if(NOT CIRCOLL_SANITIZE)
  file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/core/include ${PROJECT_SOURCE_DIR}/core/include/circoll/*.hpp)
  set(alone -I${PROJECT_SOURCE_DIR}/core/include -Wall -Wextra -Wconversion -Werror -fsyntax-only)
  function(circoll_header_test name)
    add_test(NAME header_${name} COMMAND ${ARGN} /dev/null COMMAND_EXPAND_LISTS)
    set_tests_properties(header_${name} PROPERTIES LABELS house TIMEOUT 120)
  endfunction()
  foreach(header IN LISTS public_headers)
    string(REGEX REPLACE "^circoll/(.*)$" "\\1" name ${header})
    string(REPLACE "/" "_" name ${name})
    if(name STREQUAL "mpi.hpp")
      continue()
    endif()
    circoll_header_test(${name} ${CMAKE_CXX_COMPILER} -std=c++20 ${alone} -include ${header} -x c++)
  endforeach()
  # The headers that programs begin with say which standard of C++ they need.
  foreach(name IN ITEMS comm local)
    circoll_header_test(${name}.hpp_of_c++17 ${CMAKE_CXX_COMPILER} -std=c++17 ${alone} -include circoll/${name}.hpp -x c++)
    set_tests_properties(header_${name}.hpp_of_c++17 PROPERTIES PASS_REGULAR_EXPRESSION "Circoll needs C\\+\\+20")
  endforeach()
  circoll_header_test(circoll.h ${CMAKE_C_COMPILER} -std=c99 -pedantic ${alone} -include circoll/circoll.h -x c)
  foreach(mpi openmpi mpich abi)
    if(TARGET circoll_${mpi})
      set(directories $<TARGET_PROPERTY:PkgConfig::mpi_${mpi},INTERFACE_INCLUDE_DIRECTORIES>)
      set(mpi_flags -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -isystem$<JOIN:${directories},$<SEMICOLON>-isystem>)
      if(mpi STREQUAL "abi")
        list(APPEND mpi_flags -DMPI_ABI)
      endif()
      circoll_header_test(mpi.hpp_${mpi} ${CMAKE_CXX_COMPILER} -std=c++20 ${alone} ${mpi_flags} -include circoll/mpi.hpp -x c++)
      circoll_header_test(circoll.h_${mpi} ${CMAKE_C_COMPILER} -std=c99 ${alone} ${mpi_flags} -include mpi.h
                          -include circoll/circoll.h -x c)
    endif()
  endforeach()
endif()

# The two below build a tree of their own, for which a sanitizer has nothing to add.
if(NOT CIRCOLL_SANITIZE AND CIRCOLL_INSTALL)
  add_test(NAME consumer COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer/run.sh ${PROJECT_BINARY_DIR}
                                 ${PROJECT_BINARY_DIR}/consumer ${CMAKE_CXX_COMPILER} ${CMAKE_C_COMPILER})
  set_tests_properties(consumer PROPERTIES LABELS house TIMEOUT 600)
  add_test(NAME fixture_algorithm COMMAND ${CMAKE_CURRENT_LIST_DIR}/fixture/run.sh ${PROJECT_SOURCE_DIR}
                                          ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER} ${CMAKE_C_COMPILER}
                                          -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
                                          "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${CMAKE_CXX_FLAGS_RELWITHDEBINFO}"
                                          -DCIRCOLL_UNITY=${CIRCOLL_UNITY})
  set_tests_properties(fixture_algorithm PROPERTIES LABELS house TIMEOUT 1200 PROCESSORS 2)
endif()
