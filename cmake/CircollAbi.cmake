# The target PkgConfig::mpi_abi, the standard ABI of MPI: its header and libmpi_abi, of whichever library has both. If
# no library has both, there is no target. This file is installed, too, and serves the users of circoll::abi.
#   CIRCOLL_ABI_INCLUDE_DIR   where the standard's mpi.h lies, or MPICH's, which is the standard's with -DMPI_ABI
#   CIRCOLL_ABI_LIBRARY       libmpi_abi.so
find_package(PkgConfig QUIET)
set(circoll_abi_includes "")
set(circoll_abi_libraries "")
if(PkgConfig_FOUND)
  foreach(module ompi-abi-c ompi-c mpich)
    pkg_get_variable(directory ${module} includedir)
    list(APPEND circoll_abi_includes ${directory} ${directory}/standard_abi)
    pkg_get_variable(directory ${module} libdir)
    list(APPEND circoll_abi_libraries ${directory})
  endforeach()
endif()

# Open MPI's own header has neither name in it.
function(circoll_has_abi_header result directory)
  file(STRINGS ${directory}/mpi.h found REGEX "^#(ifdef MPI_ABI|ifndef MPI_H_ABI)$" LIMIT_COUNT 1)
  if(NOT found)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_path(CIRCOLL_ABI_INCLUDE_DIR mpi.h PATHS ${circoll_abi_includes} NO_DEFAULT_PATH VALIDATOR circoll_has_abi_header)
# The link to libmpi_abi that Debian has in the directory of a library may lead nowhere.
find_library(CIRCOLL_ABI_LIBRARY mpi_abi PATHS ${circoll_abi_libraries})
mark_as_advanced(CIRCOLL_ABI_INCLUDE_DIR CIRCOLL_ABI_LIBRARY)

if(CIRCOLL_ABI_INCLUDE_DIR AND CIRCOLL_ABI_LIBRARY AND NOT TARGET PkgConfig::mpi_abi)
  add_library(PkgConfig::mpi_abi INTERFACE IMPORTED GLOBAL)
  target_include_directories(PkgConfig::mpi_abi SYSTEM INTERFACE ${CIRCOLL_ABI_INCLUDE_DIR})
  target_compile_definitions(PkgConfig::mpi_abi INTERFACE MPI_ABI)
  target_link_libraries(PkgConfig::mpi_abi INTERFACE ${CIRCOLL_ABI_LIBRARY})
endif()
