# The target hwy::hwy, from Highway's own package file or, where that is missing, from pkg-config.
# Installed too: the users of a static libcircoll need Highway at link time.
find_package(hwy QUIET CONFIG)
if(NOT TARGET hwy::hwy)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(circoll_hwy REQUIRED QUIET IMPORTED_TARGET libhwy)
  add_library(hwy::hwy INTERFACE IMPORTED)
  target_link_libraries(hwy::hwy INTERFACE PkgConfig::circoll_hwy)
endif()
