// The MPI_ symbols of C in front of the MPI library's own. They are every collective, blocking, nonblocking and
// persistent, with counts of both widths where the MPI has them. Nothing throws beyond this file.
#include <mpi.h>

#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/library/library.hpp"
#include "interpose/serve.hpp"

namespace {

using circoll::Collective;
using circoll::interpose::init;
using circoll::interpose::serve;
using circoll::interpose::start;
using circoll::mpi::CountArray;
namespace calls = circoll::mpi::calls;

CountArray array(const int* data) { return data; }
#if CIRCOLL_HAS_LARGE_COUNTS
CountArray array(const void* data) { return data == nullptr ? CountArray{} : CountArray::wide(data); }
#endif

}  // namespace

// The list of parameters without its parentheses, so that more can follow.
#define CIRCOLL_LIST(...) __VA_ARGS__

extern "C" {

#define CIRCOLL_COUNT int
#define CIRCOLL_DISPL int
#define CIRCOLL_ENTRY(name, iname, parameters, call)                               \
  CIRCOLL_EXPORT int MPI_##name parameters { return serve(call, CIRCOLL_CALLER); } \
  CIRCOLL_EXPORT int MPI_##iname(CIRCOLL_LIST parameters, MPI_Request* request) {  \
    return start(call, request, CIRCOLL_CALLER);                                   \
  }
#include "interpose/entry_points.inc"

#if CIRCOLL_HAS_PERSISTENT
#define CIRCOLL_COUNT int
#define CIRCOLL_DISPL int
#define CIRCOLL_ENTRY(name, iname, parameters, call)                                                       \
  CIRCOLL_EXPORT int CIRCOLL_INIT(, name)(CIRCOLL_LIST parameters, MPI_Info info, MPI_Request * request) { \
    return init(call, info, request, CIRCOLL_CALLER);                                                      \
  }
#include "interpose/entry_points.inc"
#endif

#if CIRCOLL_HAS_LARGE_COUNTS
#define CIRCOLL_LARGE
#define CIRCOLL_COUNT MPI_Count
#define CIRCOLL_DISPL MPI_Aint
#define CIRCOLL_ENTRY(name, iname, parameters, call)                                                     \
  CIRCOLL_EXPORT int MPI_##name##_c parameters { return serve(call, CIRCOLL_CALLER); }                   \
  CIRCOLL_EXPORT int MPI_##iname##_c(CIRCOLL_LIST parameters, MPI_Request* request) {                    \
    return start(call, request, CIRCOLL_CALLER);                                                         \
  }                                                                                                      \
  CIRCOLL_EXPORT int MPI_##name##_init_c(CIRCOLL_LIST parameters, MPI_Info info, MPI_Request* request) { \
    return init(call, info, request, CIRCOLL_CALLER);                                                    \
  }
#include "interpose/entry_points.inc"
#endif

}  // extern "C"
