# The registry of algorithms is generated from the paths: core/algorithms/<collective>/<name>.cpp must define
# circoll::algorithms::<collective>::<name>() by CIRCOLL_ALGORITHM(<collective>, <name>). A static list of
# functions cannot be dropped by a linker, and a new algorithm touches no other file.
function(circoll_generate_registry directory output out_sources)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${directory} ${directory}/*/*.cpp)
  list(SORT sources)
  set(declarations "")
  set(entries "")
  set(absolute "")
  foreach(source IN LISTS sources)
    get_filename_component(collective ${source} DIRECTORY)
    get_filename_component(name ${source} NAME_WE)
    file(READ ${directory}/${source} text)
    if(NOT text MATCHES "CIRCOLL_ALGORITHM\\(${collective}, *${name}\\)")
      message(FATAL_ERROR "${directory}/${source} must end in CIRCOLL_ALGORITHM(${collective}, ${name}) { ... }")
    endif()
    string(APPEND declarations "namespace circoll::algorithms::${collective} { const Algorithm& ${name}(); }\n")
    string(APPEND entries "    &${collective}::${name}(),\n")
    list(APPEND absolute ${directory}/${source})
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
// Generated from the paths below core/algorithms; do not edit.
#include "schedule/registry.hpp"

@declarations@
namespace circoll::algorithms {
const std::vector<const Algorithm*>& entries() {
  static const std::vector<const Algorithm*> all{
@entries@  };
  return all;
}
}  // namespace circoll::algorithms
]])
  set(${out_sources} ${absolute} PARENT_SCOPE)
endfunction()
