// Errors of the MPI libraries themselves, by version where versions differ.
#include "quirks.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "types.hpp"

namespace circoll::torture {
namespace {

/// The library, which the standard ABI shows at run time only.
struct Library {
  bool is_openmpi = false;
  int major = 0;
};

const Library& library() {
  static const Library found = [] {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);  // "Open MPI v6.0.0", "MPICH Version:      5.0.2"
    const std::string_view version(text.data());
    const std::size_t number = std::min(version.find_first_of("0123456789"), version.size());
    return Library{.is_openmpi = version.starts_with("Open MPI"), .major = std::atoi(text.data() + number)};
  }();
  return found;
}

void pass_over(MPI_Comm* /*comm*/, int* /*error*/, ...) {}  // NOLINT(cert-dcl50-cpp): as MPI wants it

bool forgets_errors() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &comm);
  PMPI_Comm_create_errhandler(pass_over, &handler);
  PMPI_Comm_set_errhandler(comm, handler);
  int nothing = 0;
  const int rc = PMPI_Bcast(&nothing, 1, MPI_INT, -7, comm);
  PMPI_Errhandler_free(&handler);
  PMPI_Comm_free(&comm);
  return rc == MPI_SUCCESS;
}

}  // namespace

namespace openmpi {

// 4.1.4
bool is_broken_natively(const Operation& o, Mode mode, int size) {
  // Overlooks the displacements, or writes behind its temporary memory.
  if (o.has_types && size == 1) return true;
  // Errs if blocks differ in size.
  if (mode != Mode::blocking && o.collective == Collective::alltoallv && o.in_place) return true;
  // Write in front of their temporary memory if the lower bound is negative.
  if (is_reducing(o.collective) && o.base == base_words && word_layout(o.layout).lb < 0) return true;
  // Ranks choose algorithms, and cut messages, by the sizes of their own types.
  return o.differ && (o.collective == Collective::allgatherv || o.collective == Collective::bcast);
}

bool refuses_natively(const Operation& o, Mode mode, Fault fault) {
  const Collective c = o.collective;
  if (fault == Fault::equal_buffers) return false;
  // Receives by types that are not committed, and sends in place by them; MPI_Scatterv crashes.
  if (fault == Fault::uncommitted_type) return is_reducing(c) && !o.in_place;
  if (fault != Fault::negative_count) return true;
  const bool overlooks = is_scatter(c) || c == Collective::allgatherv || mode != Mode::blocking;
  return !overlooks;
}

}  // namespace openmpi
namespace mpich {

// 4.0.2
bool is_broken_natively(const Operation& o, Mode mode, int size) {
  // MPI_Testall errs on their requests, and MPI_Gather_init sends what the buffer held then.
  if (mode == Mode::persistent) return true;
  const bool reduce_scatters = is_reduce_scatter(o.collective);
  const bool pairs = base_type(o.base).family == Family::pair;
  // In place: MPI_Reduce crashes (3 ranks, 8000 bytes, root 2), MPI_Reduce_scatter says that blocks overlap.
  if (o.in_place && is_reducing(o.collective)) return true;
  // Wrong results, or a crash, if elements have gaps.
  if (reduce_scatters && !commutes(o)) return true;
  // Truncate messages of types whose members differ.
  if ((pairs || o.base == base_record) && !is_reducing(o.collective)) return true;
  // Overlooks the displacement.
  if (o.collective == Collective::allgatherv && size == 1) return true;
  // Cuts messages by the extent of each rank's own type.
  if (o.differ && o.collective == Collective::allgatherv) return true;
  // Does not return on one rank while a receive from any source is pending.
  return is_exchange(o.collective) && size == 1;
}

bool refuses_natively(const Operation& o, Mode mode, Fault fault) {
  const Collective c = o.collective;
  // 5.0.2 fails an assertion.
  if (fault == Fault::no_type && is_reducing(c)) return library().major < 5;
  if (fault == Fault::equal_buffers) return !o.in_place && mode != Mode::persistent;
  if (fault != Fault::negative_count) return true;
  // Crash.
  const bool overlooks = is_reducing(c) || is_scatter(c) || mode != Mode::blocking;
  return !overlooks;
}

}  // namespace mpich

bool is_broken_natively(const Operation& o, Mode mode, int size) {
  // Libraries take several edges between two ranks in different orders (docs/adr/0038).
  if (o.neighbor) return true;
  // Both libraries read the arrays of an alltoallw after it has returned.
  if (o.has_types && mode != Mode::blocking) return true;
  return library().is_openmpi ? openmpi::is_broken_natively(o, mode, size) : mpich::is_broken_natively(o, mode, size);
}

bool needs_handles_natively() { return library().is_openmpi; }

bool refuses_natively(const Operation& o, Mode mode, Fault fault) {
  return library().is_openmpi ? openmpi::refuses_natively(o, mode, fault) : mpich::refuses_natively(o, mode, fault);
}

bool forgets_errors_natively() {
  static const bool forgets = forgets_errors();
  return forgets;
}

}  // namespace circoll::torture
