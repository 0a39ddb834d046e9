// The next library that defines a function which the drop-in only looks at. It is the MPI library, or a tool of the
// profiling interface in between, which would miss a call that went to the PMPI_ function.
#pragma once

#include <dlfcn.h>

namespace circoll::interpose {

/// `own` is the function by its PMPI_ name, for where there is no next one.
template <typename Function>
Function* next_function(const char* name, Function* own) {
  auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return next != nullptr ? next : own;
}

}  // namespace circoll::interpose

/// MPI_<name> of the next library, looked up once.
#define CIRCOLL_NEXT(name)                                                                   \
  ([] {                                                                                      \
    static auto* const next = circoll::interpose::next_function("MPI_" #name, &PMPI_##name); \
    return next;                                                                             \
  }())
