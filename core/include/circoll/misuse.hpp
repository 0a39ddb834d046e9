// Sentences for calls of the typed API whose arguments fit none of its functions (comm.hpp, values.hpp, neighbors.hpp).
// An argument is missing, in another place, or of another kind.
//
// Each function here takes anything, by a conversion. So the compiler prefers every function that fits. If none fits,
// the static_assert shows how the call is written. tests/signatures_test.py compares the forms with the declarations.
#pragma once

#include <type_traits>

/// \cond
namespace circoll {
namespace detail {

/// Anything that was given, and anything that was expected as the result.
struct Anything {
  template <typename T>
  Anything(const T& /*given*/) {}  // NOLINT(google-explicit-constructor)
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <typename Wrong>
inline constexpr bool fits = !std::is_void_v<Wrong>;

}  // namespace detail

/// Up to nine arguments.
#define CIRCOLL_ANYTHING                                                                                        \
  detail::Anything = 0, detail::Anything = 0, detail::Anything = 0, detail::Anything = 0, detail::Anything = 0, \
  detail::Anything = 0, detail::Anything = 0, detail::Anything = 0, detail::Anything = 0

template <typename Wrong = void>
detail::Anything allreduce(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write allreduce(sendbuf, recvbuf, op, comm[, choice]) "
                "or by value allreduce(sendbuf, op, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::allreduce has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything reduce(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write reduce(sendbuf, recvbuf, op, root, comm[, choice]) "
                "or by value reduce(sendbuf, op, root, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::reduce has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything reduce_scatter_block(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write reduce_scatter_block(sendbuf, recvbuf, op, comm[, choice]) "
                "or by value reduce_scatter_block(sendbuf, op, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::reduce_scatter_block has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything reduce_scatter(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write reduce_scatter(sendbuf, recvbuf, counts, op, comm[, choice]) "
                "or by value reduce_scatter(sendbuf, counts, op, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::reduce_scatter has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything scan(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write scan(sendbuf, recvbuf, op, comm[, choice]) "
                "or by value scan(sendbuf, op, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::scan has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything exscan(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write exscan(sendbuf, recvbuf, op, comm[, choice]) "
                "or by value exscan(sendbuf, op, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::exscan has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything allgather(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write allgather(sendbuf, recvbuf, comm[, choice]) "
                "or by value allgather(sendbuf, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::allgather has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything allgatherv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write allgatherv(sendbuf, recvbuf, counts, displs, comm[, choice]) "
                "or by value allgatherv(sendbuf, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::allgatherv has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything gather(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write gather(sendbuf, recvbuf, root, comm[, choice]) "
                "or by value gather(sendbuf, root, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::gather has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything gatherv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write gatherv(sendbuf, recvbuf, counts, displs, root, comm[, choice]) "
                "or by value gatherv(sendbuf, root, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::gatherv has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything scatter(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write scatter(sendbuf, recvbuf, root, comm[, choice]) "
                "or by value scatter(sendbuf, root, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::scatter has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything scatterv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write scatterv(sendbuf, counts, displs, recvbuf, root, comm[, choice]) "
                "or by value scatterv(sendbuf, counts, root, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::scatterv has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything bcast(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write bcast(buffer, root, comm[, choice]) "
                "or by value bcast(value, root, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::bcast has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything barrier(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>, "write barrier(comm[, choice])");
  return 0;
}

template <typename Wrong = void>
detail::Anything alltoall(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write alltoall(sendbuf, recvbuf, comm[, choice]) "
                "or by value alltoall(sendbuf, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::alltoall has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything alltoallv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write alltoallv(sendbuf, send_counts, send_displs, recvbuf, counts, displs, comm[, choice]) "
                "or by value alltoallv(sendbuf, send_counts, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::alltoallv has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything neighbor_allgather(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write neighbor_allgather(sendbuf, recvbuf, comm[, choice]) "
                "or by value neighbor_allgather(sendbuf, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::neighbor_allgather has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything neighbor_allgatherv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write neighbor_allgatherv(sendbuf, recvbuf, counts, displs, comm[, choice]) "
                "or by value neighbor_allgatherv(sendbuf, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::neighbor_allgatherv has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything neighbor_alltoall(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write neighbor_alltoall(sendbuf, recvbuf, comm[, choice]) "
                "or by value neighbor_alltoall(sendbuf, comm[, choice]); "
                "results by value need a communicator that waits; "
                "circoll::mpi::neighbor_alltoall has MPI's arguments");
  return 0;
}

template <typename Wrong = void>
detail::Anything neighbor_alltoallv(CIRCOLL_ANYTHING) {
  static_assert(detail::fits<Wrong>,
                "write neighbor_alltoallv(sendbuf, send_counts, send_displs, recvbuf, counts, displs, comm[, choice]) "
                "or by value neighbor_alltoallv(sendbuf, send_counts, comm[, choice]); "
                "counts and displacements are std::int64_t; "
                "results by value need a communicator that waits; "
                "circoll::mpi::neighbor_alltoallv has MPI's arguments");
  return 0;
}

#undef CIRCOLL_ANYTHING

}  // namespace circoll
/// \endcond
