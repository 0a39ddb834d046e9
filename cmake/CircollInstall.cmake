# Install rules, the package files for find_package(circoll), and the .pc files for pkg-config.
# Optional parts (the executors over MPI, the drop-ins, the programs) are installed if they were built.
include(CMakePackageConfigHelpers)

get_target_property(circoll_library_type circoll TYPE)
set(circoll_is_shared OFF)
if(circoll_library_type STREQUAL "SHARED_LIBRARY")
  set(circoll_is_shared ON)
endif()
set(circoll_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/circoll)
set(circoll_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(circoll_built_mpis "")
foreach(mpi openmpi mpich abi)
  if(TARGET circoll_${mpi})
    list(APPEND circoll_built_mpis ${mpi})
  endif()
endforeach()

# Headers. mpi.hpp includes <mpi.h> and serves the MPI libraries only.
set(circoll_left_out PATTERN mpi.hpp EXCLUDE)
if(circoll_built_mpis)
  set(circoll_left_out "")
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/circoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        ${circoll_left_out})

# Libraries: one export per MPI, so that the package works where only one of them is installed.
function(circoll_install_library target export)
  install(TARGETS ${target} EXPORT ${export}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tool NAMELINK_COMPONENT dev
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  install(EXPORT ${export} NAMESPACE circoll:: DESTINATION ${circoll_cmake_dir} FILE ${export}.cmake COMPONENT dev)
endfunction()

circoll_install_library(circoll circoll-targets)
foreach(mpi IN LISTS circoll_built_mpis)
  set_target_properties(circoll_${mpi} PROPERTIES EXPORT_NAME ${mpi} INSTALL_RPATH "$ORIGIN")
  circoll_install_library(circoll_${mpi} circoll-${mpi}-targets)
endforeach()

# The libraries that a C++ compiler links by itself. Programs that are linked as C need them, too.
set(circoll_cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER circoll_cxx_runtime INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES circoll_cxx_runtime)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/circollConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/package/circollConfig.cmake
                              INSTALL_DESTINATION ${circoll_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/circollConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/circollConfig.cmake ${PROJECT_BINARY_DIR}/package/circollConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/CircollAbi.cmake
        DESTINATION ${circoll_cmake_dir} COMPONENT dev)

# pkg-config. Paths are relative to the .pc file, so that the installed tree can be moved.
function(circoll_install_pc name description requires libs cflags)
  file(RELATIVE_PATH prefix_from_pc /prefix/${circoll_pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix_from_pc@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Requires: @requires@
Libs: @libs@
Cflags: -I${includedir} @cflags@
]])
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${circoll_pkgconfig_dir} COMPONENT dev)
endfunction()

# A static library brings its private libraries along, and the C++ run-time for programs that are linked as C.
set(circoll_requires "")
set(circoll_libs "-L\${libdir} -lcircoll -pthread")
if(NOT circoll_is_shared)
  set(circoll_requires "fmt")
  list(JOIN circoll_cxx_runtime " -l" circoll_cxx_libs)
  string(APPEND circoll_libs " -l${circoll_cxx_libs}")
endif()
circoll_install_pc(circoll "${PROJECT_DESCRIPTION}" "${circoll_requires}" "${circoll_libs}" "")
set(circoll_module_openmpi ompi-c)
set(circoll_module_mpich mpich)
foreach(mpi IN LISTS circoll_built_mpis)
  if(mpi STREQUAL "abi")  # no module is every library's
    circoll_install_pc(circoll-abi "${PROJECT_DESCRIPTION} (over the standard ABI of MPI)" "circoll = ${PROJECT_VERSION}"
                       "-L\${libdir} -lcircoll_abi ${CIRCOLL_ABI_LIBRARY}" "-I${CIRCOLL_ABI_INCLUDE_DIR} -DMPI_ABI")
    continue()
  endif()
  circoll_install_pc(circoll-${mpi} "${PROJECT_DESCRIPTION} (over ${circoll_module_${mpi}})"
                     "circoll = ${PROJECT_VERSION}, ${circoll_module_${mpi}}" "-L\${libdir} -lcircoll_${mpi}"
                     "-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX")  # as in core/exec/mpi: MPI's header as C
endforeach()

# The licence and the changes are installed beside the tool. So are all pages, to which messages and manual pages refer,
# measured rules as examples, and module files to edit.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
# The site of these pages, which site/build makes with the tool, beside this build or elsewhere.
set(CIRCOLL_SITE ${PROJECT_BINARY_DIR}/site/html CACHE PATH "The documentation as a site that is installed, if it is there")
install(DIRECTORY ${CIRCOLL_SITE}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html COMPONENT doc OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lab/experiments/netbed/rules DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        COMPONENT tool)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/circoll COMPONENT tool)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
        PATTERN CMakeLists.txt EXCLUDE)

# The drop-ins (lib/circoll/<mpi>/libcircoll-mpi.so) and the programs are installed by their own rooms; here only
# where they find a shared libcircoll.
if(NOT circoll_is_shared)
  include(CircollPackages)
  return()
endif()
file(RELATIVE_PATH circoll_lib_from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
list(TRANSFORM circoll_built_mpis PREPEND circoll_bench_ OUTPUT_VARIABLE circoll_benches)
list(TRANSFORM circoll_built_mpis PREPEND circoll_torture_ OUTPUT_VARIABLE circoll_tortures)
foreach(program circoll_cli ${circoll_benches} ${circoll_tortures})
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${circoll_lib_from_bin}")
  endif()
endforeach()
foreach(mpi IN LISTS circoll_built_mpis)
  if(TARGET circoll_dropin_${mpi})
    set_target_properties(circoll_dropin_${mpi} PROPERTIES INSTALL_RPATH "$ORIGIN/../..")
  endif()
endforeach()
