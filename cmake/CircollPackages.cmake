# Debian packages, one for each component (cpack -G DEB): the tool, what belongs to each MPI, the library, the pages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME circoll)
set(CPACK_PACKAGE_VENDOR "The Circoll authors")
set(CPACK_PACKAGE_CONTACT "The Circoll authors <circoll@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tool dev doc ${circoll_built_mpis})
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# Names, dependences and words of the packages. The extended description is a debhelper field: lines after the first.
function(circoll_package component name section depends what)
  string(TOUPPER ${component} upper)
  foreach(pair "PACKAGE_NAME=${name}" "PACKAGE_SECTION=${section}" "PACKAGE_DEPENDS=${depends}")
    string(REPLACE "=" ";" both "${pair}")
    list(POP_FRONT both key)
    set(CPACK_DEBIAN_${upper}_${key} "${both}" PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${PROJECT_DESCRIPTION}\n${what}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_GROUP ${component} PARENT_SCOPE)
  set(circoll_package_names ${circoll_package_names} ${name} PARENT_SCOPE)
endfunction()

set(circoll_package_names "")
set(circoll_same_version "circoll (= ${PROJECT_VERSION})")
circoll_package(tool circoll science ""
  "The command line tool: lists, draws, proves, prices and simulates algorithms,\nruns programs under the drop-in, and tunes a machine.")
circoll_package(dev libcircoll-dev libdevel "libfmt-dev, libhwy-dev, libtinyxml2-dev"
  "The library for C++ and C: static archives, headers, and the files for\nCMake and pkg-config.")
circoll_package(doc circoll-doc doc "" "All pages, and the example programs.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libopenmpi-dev, libmpich-dev")
if("openmpi" IN_LIST circoll_built_mpis)
  circoll_package(openmpi circoll-openmpi science "${circoll_same_version}, openmpi-bin"
    "The drop-in for programs of Open MPI, the benchmark and the torture test.")
endif()
if("mpich" IN_LIST circoll_built_mpis)
  circoll_package(mpich circoll-mpich science "${circoll_same_version}, mpich"
    "The drop-in for programs of MPICH, the benchmark and the torture test.")
endif()

# Every package has a copyright file and a changelog where Debian looks for them.
file(WRITE ${PROJECT_BINARY_DIR}/package/changelog "circoll (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md has the changes.

 -- The Circoll authors <circoll@localhost>  Thu, 01 Jan 2026 00:00:00 +0000
")
find_program(CIRCOLL_GZIP gzip REQUIRED)
execute_process(COMMAND ${CIRCOLL_GZIP} -9nkf ${PROJECT_BINARY_DIR}/package/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(component IN ITEMS tool dev doc ${circoll_built_mpis})
  string(TOUPPER ${component} upper)
  set(place share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${place} RENAME copyright COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/package/changelog.gz DESTINATION ${place} COMPONENT ${component})
endforeach()
include(CPack)
