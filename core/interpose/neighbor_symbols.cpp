// The MPI_ symbols of neighbourhood collectives in C, as symbols.cpp has those of the others.
#include <mpi.h>

#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/library/library.hpp"
#include "interpose/serve.hpp"

namespace {

using circoll::Counts;
using circoll::NeighborFunction;
using circoll::interpose::init;
using circoll::interpose::serve;
using circoll::interpose::start;
using circoll::mpi::NeighborArguments;
using circoll::mpi::NeighborCall;
using circoll::mpi::NeighborNative;

Counts array(const int* data) { return data; }
Counts bytes(const MPI_Aint* data) { return data == nullptr ? Counts{} : Counts::wide(data); }
#if CIRCOLL_HAS_LARGE_COUNTS
Counts array(const void* data) { return data == nullptr ? Counts{} : Counts::wide(data); }
#endif

}  // namespace

#define CIRCOLL_LIST(...) __VA_ARGS__
// The call of an entry in the list, and the library's own function as a NeighborNative that lives as long as the call.
#define CIRCOLL_CALL(...) CIRCOLL_CALL_OF(__VA_ARGS__)
#define CIRCOLL_CALL_OF(function, ...) make_call(NeighborFunction::function, comm, __VA_ARGS__)
#define CIRCOLL_NATIVE(...) NeighborNative([&](std::string_view) { return __VA_ARGS__; })

namespace {
NeighborCall make_call(NeighborFunction function, MPI_Comm comm, const NeighborArguments& send,
                       const NeighborArguments& recv) {
  return {.function = function, .send = send, .recv = recv, .comm = comm};
}
}  // namespace

extern "C" {

#define CIRCOLL_COUNT int
#define CIRCOLL_DISPL int
#define CIRCOLL_ENTRY(name, iname, parameters, names, call)                                             \
  CIRCOLL_EXPORT int MPI_##name parameters {                                                            \
    return serve(CIRCOLL_CALL call, CIRCOLL_NATIVE(PMPI_##name names), CIRCOLL_CALLER);                 \
  }                                                                                                     \
  CIRCOLL_EXPORT int MPI_##iname(CIRCOLL_LIST parameters, MPI_Request* request) {                       \
    return start(CIRCOLL_CALL call, CIRCOLL_NATIVE(PMPI_##iname(CIRCOLL_LIST names, request)), request, \
                 CIRCOLL_CALLER);                                                                       \
  }
#include "interpose/neighbor_entry_points.inc"

#if CIRCOLL_HAS_PERSISTENT
#define CIRCOLL_COUNT int
#define CIRCOLL_DISPL int
#define CIRCOLL_ENTRY(name, iname, parameters, names, call)                                                           \
  CIRCOLL_EXPORT int CIRCOLL_INIT(, name)(CIRCOLL_LIST parameters, MPI_Info info, MPI_Request * request) {            \
    return init(CIRCOLL_CALL call, CIRCOLL_NATIVE(CIRCOLL_INIT(P, name)(CIRCOLL_LIST names, info, request)), request, \
                CIRCOLL_CALLER);                                                                                      \
  }
#include "interpose/neighbor_entry_points.inc"
#endif

#if CIRCOLL_HAS_LARGE_COUNTS
#define CIRCOLL_COUNT MPI_Count
#define CIRCOLL_DISPL MPI_Aint
#define CIRCOLL_ENTRY(name, iname, parameters, names, call)                                                          \
  CIRCOLL_EXPORT int MPI_##name##_c parameters {                                                                     \
    return serve(CIRCOLL_CALL call, CIRCOLL_NATIVE(PMPI_##name##_c names), CIRCOLL_CALLER);                          \
  }                                                                                                                  \
  CIRCOLL_EXPORT int MPI_##iname##_c(CIRCOLL_LIST parameters, MPI_Request* request) {                                \
    return start(CIRCOLL_CALL call, CIRCOLL_NATIVE(PMPI_##iname##_c(CIRCOLL_LIST names, request)), request,          \
                 CIRCOLL_CALLER);                                                                                    \
  }                                                                                                                  \
  CIRCOLL_EXPORT int MPI_##name##_init_c(CIRCOLL_LIST parameters, MPI_Info info, MPI_Request* request) {             \
    return init(CIRCOLL_CALL call, CIRCOLL_NATIVE(PMPI_##name##_init_c(CIRCOLL_LIST names, info, request)), request, \
                CIRCOLL_CALLER);                                                                                     \
  }
#include "interpose/neighbor_entry_points.inc"
#endif

}  // extern "C"
