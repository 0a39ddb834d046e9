// Fortran under Open MPI: its Fortran entry points call PMPI_ functions, so that no C symbol in front sees them.
//
// One implementation, ompi_<name>_f, stands behind all bindings: mpif.h and `use mpi` reach it under the compiler's
// names for mpi_<name>, `use mpi_f08` reaches it directly. Arguments come as addresses, handles as integers;
// MPI_IN_PLACE and MPI_BOTTOM are the addresses of two common blocks. (MPICH's Fortran layer calls the C symbols:
// nothing to do.)
//
// Procedures of `use mpi_f08` with buffers go past it in Open MPI 6, through ompi_<name>_wrapper_f08, and through
// ..._wrapper_f08_c for large counts. Buffers come to these as descriptors of the Fortran standard
// (docs/user/served.md).
#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/mpi/call/neighbor_call.hpp"
#include "exec/mpi/library/library.hpp"
#include "interpose/fortran.hpp"
#include "interpose/sections_openmpi.hpp"
#include "interpose/serve.hpp"

static_assert(std::is_same_v<MPI_Fint, int>, "count arrays are passed on as they are");

extern "C" {
// Of the MPI library, or of the program; undefined where there is no Fortran at all.
extern char mpi_fortran_in_place_ __attribute__((weak));
extern char mpi_fortran_bottom_ __attribute__((weak));
}

namespace {

void* buffer(void* address) {
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return address;
}
MPI_Datatype type(const MPI_Fint* handle) { return PMPI_Type_f2c(*handle); }
MPI_Op op(const MPI_Fint* handle) { return PMPI_Op_f2c(*handle); }
MPI_Comm comm(const MPI_Fint* handle) { return PMPI_Comm_f2c(*handle); }

/// Datatypes of blocks as C has them. Those of a blocking call live as long as this object. Open MPI reads the array
/// again when a nonblocking operation of its own ends, and nobody tells when that is. So different arrays of calls with
/// requests stay for good. Equal ones of the program share one.
class Types {
 public:
  Types(const MPI_Fint* handles, int blocks, bool for_good) {
    static std::mutex mutex;
    static auto* const known = new std::set<std::vector<MPI_Datatype>>;
    own_.reserve(static_cast<std::size_t>(blocks) + 1);  // an address for no blocks, too
    for (int i = 0; i < blocks; ++i) own_.push_back(type(handles + i));
    first_ = own_.data();
    if (!for_good) return;
    const std::lock_guard lock(mutex);
    first_ = known->insert(std::move(own_)).first->data();
  }
  operator const MPI_Datatype*() const { return first_; }  // NOLINT(google-explicit-constructor): an argument of MPI

 private:
  std::vector<MPI_Datatype> own_;
  const MPI_Datatype* first_ = nullptr;
};
/// Calls with requests have a variable of this name that says otherwise.
constexpr bool for_good = false;
/// Those that a rank sends to its neighbours, or receives from them.
Types neighbor_types(const MPI_Fint* handles, const MPI_Fint* c, bool sent, bool for_good) {
  return {handles, circoll::mpi::neighbor_blocks(comm(c), sent), for_good};
}
/// Those of an alltoallw. In place the ones to send may be anything.
Types exchanged_types(const MPI_Fint* handles, const MPI_Fint* c, const void* buffer_of_them, bool for_good) {
  int inter = 0, ranks = 0;
  const bool read = buffer_of_them != MPI_IN_PLACE && PMPI_Comm_test_inter(comm(c), &inter) == MPI_SUCCESS;
  if (read && inter != 0) PMPI_Comm_remote_size(comm(c), &ranks);
  if (read && inter == 0) PMPI_Comm_size(comm(c), &ranks);
  return {handles, ranks, for_good};
}

using circoll::interpose::fortran::free_op;
using circoll::interpose::fortran::give;
using circoll::interpose::fortran::has_descriptors;
using circoll::interpose::fortran::has_own_block;
using circoll::interpose::fortran::library_procedure;
using circoll::interpose::fortran::Sections;
using circoll::interpose::fortran::start_all;
using circoll::interpose::fortran::with;
using Int = const MPI_Fint*;
}  // namespace

// A Fortran entry point `symbol`, and under the names that compilers on Linux have for the procedure `name`: with an
// underscore, or with two (-fsecond-underscore). Not under the bare name, which compilers give it only if they are told
// so (-fno-underscoring): it comes before a function of that name in the program's own libraries, as R's Rmpi has them.
#define CIRCOLL_PROCEDURE(...) CIRCOLL_PROCEDURE_AS(__VA_ARGS__)  // for names that a macro makes
#define CIRCOLL_PROCEDURE_AS(symbol, name, parameters, body)                       \
  extern "C" {                                                                     \
  CIRCOLL_EXPORT void symbol parameters { body; }                                  \
  __attribute__((visibility("default"), alias(#symbol))) void name##_ parameters;  \
  __attribute__((visibility("default"), alias(#symbol))) void name##__ parameters; \
  }
#define CIRCOLL_LIST(...) __VA_ARGS__

// Code for MPI libraries with persistent collectives, and the two names of their Fortran entry points.
#if CIRCOLL_HAS_PERSISTENT
#define CIRCOLL_PERSISTENT(...) __VA_ARGS__
#else
#define CIRCOLL_PERSISTENT(...)
#endif
#if CIRCOLL_PERSISTENT_IS_EXTENSION
#define CIRCOLL_FORTRAN_INIT(lower) ompix_##lower##_init_f, mpix_##lower##_init
#else
#define CIRCOLL_FORTRAN_INIT(lower) ompi_##lower##_init_f, mpi_##lower##_init
#endif

// A collective in its three forms.
#define CIRCOLL_FORMS(lower, upper, iupper, parameters, arguments)                                                   \
  CIRCOLL_PROCEDURE(ompi_##lower##_f, mpi_##lower, (CIRCOLL_LIST parameters, MPI_Fint * ierr),                       \
                    give(ierr, MPI_##upper arguments))                                                               \
  CIRCOLL_PROCEDURE(ompi_i##lower##_f, mpi_i##lower, (CIRCOLL_LIST parameters, MPI_Fint * request, MPI_Fint * ierr), \
                    give(ierr, request, [&](MPI_Request* made) {                                                     \
                      [[maybe_unused]] constexpr bool for_good = true;                                               \
                      return MPI_##iupper(CIRCOLL_LIST arguments, made);                                             \
                    }))                                                                                              \
  CIRCOLL_PERSISTENT(CIRCOLL_PROCEDURE(                                                                              \
      CIRCOLL_FORTRAN_INIT(lower), (CIRCOLL_LIST parameters, Int info, MPI_Fint * request, MPI_Fint * ierr),         \
      give(ierr, request, [&](MPI_Request* made) {                                                                   \
        [[maybe_unused]] constexpr bool for_good = true;                                                             \
        return CIRCOLL_INIT(, upper)(CIRCOLL_LIST arguments, PMPI_Info_f2c(*info), made);                            \
      })))

// The first two let the drop-in read the environment, and the ranks agree on it, when the program starts. The third is
// the end.
CIRCOLL_PROCEDURE(ompi_init_f, mpi_init, (MPI_Fint * ierr), give(ierr, MPI_Init(nullptr, nullptr)))
CIRCOLL_PROCEDURE(ompi_init_thread_f, mpi_init_thread, (Int required, MPI_Fint* provided, MPI_Fint* ierr),
                  give(ierr, MPI_Init_thread(nullptr, nullptr, *required, provided)))
CIRCOLL_PROCEDURE(ompi_finalize_f, mpi_finalize, (MPI_Fint * ierr), give(ierr, MPI_Finalize()))

// These call the functions of requests.cpp.
CIRCOLL_PROCEDURE(ompi_start_f, mpi_start, (MPI_Fint * request, MPI_Fint* ierr), give(ierr, with(request, MPI_Start)))
CIRCOLL_PROCEDURE(ompi_startall_f, mpi_startall, (Int count, MPI_Fint* requests, MPI_Fint* ierr),
                  give(ierr, start_all(*count, requests)))
CIRCOLL_PROCEDURE(ompi_request_free_f, mpi_request_free, (MPI_Fint * request, MPI_Fint* ierr),
                  give(ierr, with(request, MPI_Request_free)))
CIRCOLL_PROCEDURE(ompi_cancel_f, mpi_cancel, (MPI_Fint * request, MPI_Fint* ierr),
                  give(ierr, with(request, MPI_Cancel)))
CIRCOLL_PROCEDURE(ompi_op_free_f, mpi_op_free, (MPI_Fint * handle, MPI_Fint* ierr), give(ierr, free_op(handle)))

CIRCOLL_FORMS(barrier, Barrier, Ibarrier, (Int c), (comm(c)))

#define CIRCOLL_COUNT MPI_Fint
#define CIRCOLL_DISPL MPI_Fint
#define CIRCOLL_FORTRAN(lower, upper, iupper, buffers, parameters, names, arguments) \
  CIRCOLL_FORMS(lower, upper, iupper, parameters, arguments)
#include "interpose/fortran_collectives.inc"

#if __has_include(<ISO_Fortran_binding.h>)

// A call goes to the library only where the library refuses it at once, or where no rank understands the buffers. The
// library gets the parameters as they came, because the lambda changes its own copies.
#define CIRCOLL_WRAPPER(symbol, buffers, parameters, names, body)                                            \
  extern "C" CIRCOLL_EXPORT void symbol parameters {                                                         \
    static const bool described = has_descriptors(CIRCOLL_CALLER);                                           \
    const bool done = described && [=]() mutable {                                                           \
      Sections sections;                                                                                     \
      if (!buffers) return false;                                                                            \
      sections.error() == MPI_SUCCESS ? body : give(ierr, sections.error());                                 \
      return true;                                                                                           \
    }();                                                                                                     \
    if (done) return;                                                                                        \
    static void* const found = library_procedure(#symbol, reinterpret_cast<void*>(&symbol), CIRCOLL_CALLER); \
    auto* const next = reinterpret_cast<decltype(&symbol)>(found);                                           \
    next != nullptr ? next names : give(ierr, MPI_ERR_INTERN);                                               \
  }
#define CIRCOLL_WRAPPERS(f, function, i_f, ifunction, init_f, init, buffers, parameters, names, arguments)       \
  CIRCOLL_WRAPPER(f, buffers, (CIRCOLL_LIST parameters, MPI_Fint * ierr), (CIRCOLL_LIST names, ierr),            \
                  give(ierr, function arguments))                                                                \
  CIRCOLL_WRAPPER(i_f, buffers, (CIRCOLL_LIST parameters, MPI_Fint * request, MPI_Fint * ierr),                  \
                  (CIRCOLL_LIST names, request, ierr), give(ierr, request, [&](MPI_Request* made) {              \
                    [[maybe_unused]] constexpr bool for_good = true;                                             \
                    return ifunction(CIRCOLL_LIST arguments, made);                                              \
                  }))                                                                                            \
  CIRCOLL_PERSISTENT(                                                                                            \
      CIRCOLL_WRAPPER(init_f, buffers, (CIRCOLL_LIST parameters, Int info, MPI_Fint * request, MPI_Fint * ierr), \
                      (CIRCOLL_LIST names, info, request, ierr), give(ierr, request, [&](MPI_Request* made) {    \
                        [[maybe_unused]] constexpr bool for_good = true;                                         \
                        return init(CIRCOLL_LIST arguments, PMPI_Info_f2c(*info), made);                         \
                      })))

#define CIRCOLL_COUNT MPI_Fint
#define CIRCOLL_DISPL MPI_Fint
#define CIRCOLL_FORTRAN(lower, upper, iupper, buffers, parameters, names, arguments)                   \
  CIRCOLL_WRAPPERS(ompi_##lower##_wrapper_f08, MPI_##upper, ompi_i##lower##_wrapper_f08, MPI_##iupper, \
                   ompi_##lower##_init_wrapper_f08, CIRCOLL_INIT(, upper), buffers, parameters, names, arguments)
#include "interpose/fortran_collectives.inc"

#if CIRCOLL_HAS_LARGE_COUNTS
#define CIRCOLL_COUNT MPI_Count
#define CIRCOLL_DISPL MPI_Aint
#define CIRCOLL_FORTRAN(lower, upper, iupper, buffers, parameters, names, arguments)                               \
  CIRCOLL_WRAPPERS(ompi_##lower##_wrapper_f08_c, MPI_##upper##_c, ompi_i##lower##_wrapper_f08_c, MPI_##iupper##_c, \
                   ompi_##lower##_init_wrapper_f08_c, MPI_##upper##_init_c, buffers, parameters, names, arguments)
#include "interpose/fortran_collectives.inc"
#endif

#endif
