# Debian packages, one for each component (cpack -G DEB): the tool, what belongs to each MPI, the library, the
# pages, the package for Python.
set(circoll_components tool dev doc ${circoll_built_mpis})
if(TARGET circoll_python)
  list(APPEND circoll_components python)
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME circoll)
set(CPACK_PACKAGE_VENDOR "The Circoll authors")
set(CIRCOLL_PACKAGE_CONTACT "The Circoll authors <circoll@example.org>" CACHE STRING "Maintainer of the Debian packages")
set(CPACK_PACKAGE_CONTACT "${CIRCOLL_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${circoll_components})
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# The names, dependences and descriptions of the packages. A description has a line, and some more lines.
function(circoll_package component name section depends what more)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${what}\n${more}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_GROUP ${component} PARENT_SCOPE)
endfunction()

set(circoll_same_version "circoll (= ${PROJECT_VERSION})")
circoll_package(tool circoll science "" "collective communication for MPI: command line tool"
  "The command line tool: lists, draws, proves, prices and simulates algorithms,\nruns programs under the drop-in, and tunes a machine.")
circoll_package(dev libcircoll-dev libdevel "libfmt-dev"
  "collective communication for MPI: library"
  "The library for C++ and C: static archives, headers, and the files for\nCMake and pkg-config.")
circoll_package(doc circoll-doc doc "" "collective communication for MPI: documentation"
  "All pages, as text and as a site to open in a browser, and the example\nprograms.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "python3-matplotlib")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libopenmpi-dev, libmpich-dev")
if("openmpi" IN_LIST circoll_built_mpis)
  circoll_package(openmpi circoll-openmpi science "${circoll_same_version}, openmpi-bin"
    "collective communication for MPI: drop-in for Open MPI"
    "The drop-in for programs of Open MPI, the benchmark and the torture test.")
endif()
if("mpich" IN_LIST circoll_built_mpis)
  circoll_package(mpich circoll-mpich science "${circoll_same_version}, mpich"
    "collective communication for MPI: drop-in for MPICH"
    "The drop-in for programs of MPICH, the benchmark and the torture test.")
endif()
if(TARGET circoll_python)
  # A module is for one version of Python (3.11), which the next one (3.12) is not.
  get_target_property(circoll_minor circoll_python circoll_python_minor)
  math(EXPR circoll_next_minor "${circoll_minor} + 1")
  set(circoll_pythons "python3 (>= 3.${circoll_minor}), python3 (<< 3.${circoll_next_minor})")
  circoll_package(python python3-circoll python "${circoll_pythons}, python3-numpy"
    "collective communication for MPI: package for Python"
    "Schedules, proofs, costs, simulations, failures and charts in Python, and\nalgorithms of your own.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-matplotlib, python3-pandas, python3-mpi4py")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
      ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
endif()

if("abi" IN_LIST circoll_built_mpis)
  circoll_package(abi circoll-abi science "${circoll_same_version}, libopenmpi40 (>= 6) | libmpich12 (>= 5)"
    "collective communication for MPI: drop-in for the standard ABI"
    "The drop-in for programs of the standard ABI of MPI 5, the benchmark and the\ntorture test.")
  # libmpi_abi.so.1 is a link that ldconfig makes, and no package's file.
  set(CPACK_DEBIAN_ABI_PACKAGE_SHLIBDEPS OFF)
endif()

# Every package has a copyright file and a changelog where Debian looks for them.
file(WRITE ${PROJECT_BINARY_DIR}/package/changelog "circoll (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md has the changes.

 -- ${CIRCOLL_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
# Debian's packages have compressed manual pages, which an installed tree need not have.
find_program(CIRCOLL_GZIP gzip REQUIRED)
install(CODE "
  if(\"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" MATCHES _CPack_Packages)
    file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/circoll*.1\")
    if(pages)
      execute_process(COMMAND ${CIRCOLL_GZIP} -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endif()" COMPONENT tool)
execute_process(COMMAND ${CIRCOLL_GZIP} -9nkf ${PROJECT_BINARY_DIR}/package/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(component IN LISTS circoll_components)
  string(TOUPPER ${component} upper)
  set(place share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(when "")
  if(component STREQUAL "python")
    set(when EXCLUDE_FROM_ALL)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${place} RENAME copyright COMPONENT ${component} ${when})
  install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${place} COMPONENT ${component} ${when})
endforeach()
include(CPack)
