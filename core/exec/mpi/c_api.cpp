// The collectives of the C ABI, and its requests.
#include <mpi.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "api/c_errors.hpp"
#include "circoll/circoll.h"
#include "circoll/exact_sum.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/call/calls.hpp"
#include "exec/mpi/pending/owned_call.hpp"
#include "exec/mpi/serve/bound_plan.hpp"

struct circoll_mpi_request_state {
  circoll::Request request;
};

namespace {

using circoll::Choice;
using circoll::require;
using circoll::mpi::Call;
using circoll::mpi::Counts;
using circoll::mpi::NeighborCall;
using circoll::mpi::RequestKind;

/// Runs a function and returns the code of its error.
template <typename Function>
int code_of(const Function& function) noexcept {
  try {
    function();
    return CIRCOLL_OK;
  } catch (const circoll::MpiError& e) {
    return circoll::api::record(e.code(), e.what(), e.mpi_code());
  } catch (...) {
    return circoll::api::error_code_of([] { throw; });
  }
}

Choice choice_of(const char* choice) { return choice == nullptr ? Choice() : Choice(choice); }

int execute(const Call& call, const char* choice) noexcept {
  return code_of([&] { execute_owned(call, *circoll::mpi::intern(call.collective, choice_of(choice))); });
}

int execute(const NeighborCall& call, const char* choice) noexcept {
  return code_of([&] { execute_owned(call, choice_of(choice)); });
}

template <typename AnyCall>
int make(const AnyCall& call, const char* choice, circoll_mpi_request* request, RequestKind kind) noexcept {
  return code_of([&] {
    require(request != nullptr, "the place of the request is NULL");
    *request = nullptr;
    auto made = std::make_unique<circoll_mpi_request_state>();
    made->request = make_request(call, choice_of(choice), kind);
    *request = made.release();
  });
}

/// A request whose call has ended, well or with an error: only a persistent one is kept.
void end(circoll_mpi_request* request) noexcept {
  if ((*request)->request.persistent()) return;
  delete std::exchange(*request, nullptr);
}

Counts counts_of(const int64_t* counts) { return counts == nullptr ? Counts() : Counts::wide(counts); }

}  // namespace

extern "C" {

int circoll_mpi_wait(circoll_mpi_request* request) {
  return code_of([&] {
    require(request != nullptr, "the place of the request is NULL");
    if (*request == nullptr) return;
    try {
      (*request)->request.wait();
    } catch (...) {
      end(request);
      throw;
    }
    end(request);
  });
}

int circoll_mpi_test(circoll_mpi_request* request, int* ended) {
  return code_of([&] {
    require(request != nullptr && ended != nullptr, "the place of the request, or of its end, is NULL");
    *ended = 1;
    if (*request == nullptr) return;
    try {
      *ended = (*request)->request.test() ? 1 : 0;
    } catch (...) {
      end(request);
      throw;
    }
    if (*ended != 0) end(request);
  });
}

int circoll_mpi_start(circoll_mpi_request request) {
  return code_of([&] {
    require(request != nullptr, "the request is NULL");
    request->request.start();
  });
}

int circoll_mpi_request_free(circoll_mpi_request* request) {
  return code_of([&] {
    require(request != nullptr, "the place of the request is NULL");
    const std::unique_ptr<circoll_mpi_request_state> freed(std::exchange(*request, nullptr));
    if (freed != nullptr) freed->request.wait();
  });
}

/// Defines the three functions of a collective: blocking, nonblocking and persistent. `parameters` and `arguments` are
/// lists in brackets: those of the C function, and those of the function in calls.hpp.
#define CIRCOLL_LIST(...) __VA_ARGS__
#define CIRCOLL_C_FUNCTIONS(name, parameters, arguments)                                                     \
  int circoll_mpi_##name(CIRCOLL_LIST parameters, const char* choice) {                                      \
    return execute(circoll::mpi::calls::name arguments, choice);                                             \
  }                                                                                                          \
  int circoll_mpi_i##name(CIRCOLL_LIST parameters, const char* choice, circoll_mpi_request* request) {       \
    return make(circoll::mpi::calls::name arguments, choice, request, RequestKind::nonblocking);             \
  }                                                                                                          \
  int circoll_mpi_##name##_init(CIRCOLL_LIST parameters, const char* choice, circoll_mpi_request* request) { \
    return make(circoll::mpi::calls::name arguments, choice, request, RequestKind::persistent);              \
  }

CIRCOLL_C_FUNCTIONS(allreduce,
                    (const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
CIRCOLL_C_FUNCTIONS(reduce,
                    (const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, root, comm))
CIRCOLL_C_FUNCTIONS(reduce_scatter_block,
                    (const void* sendbuf, void* recvbuf, int64_t recvcount, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, recvcount, datatype, op, comm))
CIRCOLL_C_FUNCTIONS(reduce_scatter,
                    (const void* sendbuf, void* recvbuf, const int64_t* recvcounts, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, counts_of(recvcounts), datatype, op, comm))
CIRCOLL_C_FUNCTIONS(allgather,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CIRCOLL_C_FUNCTIONS(allgatherv,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts), counts_of(displs), recvtype, comm))
CIRCOLL_C_FUNCTIONS(gather,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
CIRCOLL_C_FUNCTIONS(gatherv,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts), counts_of(displs), recvtype, root,
                     comm))
CIRCOLL_C_FUNCTIONS(scatter,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
CIRCOLL_C_FUNCTIONS(scatterv,
                    (const void* sendbuf, const int64_t* sendcounts, const int64_t* displs, MPI_Datatype sendtype,
                     void* recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, counts_of(sendcounts), counts_of(displs), sendtype, recvbuf, recvcount, recvtype, root,
                     comm))
CIRCOLL_C_FUNCTIONS(alltoall,
                    (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CIRCOLL_C_FUNCTIONS(alltoallv,
                    (const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm),
                    (sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtype, recvbuf, counts_of(recvcounts),
                     counts_of(rdispls), recvtype, comm))
CIRCOLL_C_FUNCTIONS(alltoallw,
                    (const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                     const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls,
                     const MPI_Datatype* recvtypes, MPI_Comm comm),
                    (sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtypes, recvbuf, counts_of(recvcounts),
                     counts_of(rdispls), recvtypes, comm))
CIRCOLL_C_FUNCTIONS(scan,
                    (const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
CIRCOLL_C_FUNCTIONS(exscan,
                    (const void* sendbuf, void* recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
CIRCOLL_C_FUNCTIONS(bcast, (void* buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm),
                    (buffer, count, datatype, root, comm))
CIRCOLL_C_FUNCTIONS(barrier, (MPI_Comm comm), (comm))

int circoll_mpi_exact_sums(int sums, const double* const* numbers, const double* const* weights, const int64_t* counts,
                           double* results, MPI_Comm comm, const char* choice) {
  return code_of([&] {
    require(sums >= 0, "the number of sums is negative");
    require(sums == 0 || (numbers != nullptr && counts != nullptr && results != nullptr),
            "numbers, counts and results must not be NULL");
    std::vector<circoll::ExactSum> exact(static_cast<std::size_t>(sums));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      require(counts[i] >= 0, "a count is negative");
      require(counts[i] == 0 || numbers[i] != nullptr, "an array of numbers is NULL");
      const auto span = [&](const double* data) { return std::span(data, static_cast<std::size_t>(counts[i])); };
      const double* const weight = weights == nullptr ? nullptr : weights[i];
      if (weight == nullptr) {
        exact[i].add(span(numbers[i]));
      } else {
        exact[i].add_products(span(numbers[i]), span(weight));
      }
    }
    circoll::exact_sum(exact, comm, choice_of(choice));
    for (std::size_t i = 0; i < exact.size(); ++i) results[i] = exact[i].to_double();
  });
}

int circoll_mpi_exact_sum(const double* numbers, int64_t count, double* sum, MPI_Comm comm, const char* choice) {
  return code_of([&] {
    require(sum != nullptr, "the place of the sum is NULL");
    require(count >= 0, "a count is negative");
    require(count == 0 || numbers != nullptr, "an array of numbers is NULL");
    *sum = circoll::exact_sum(std::span(numbers, static_cast<std::size_t>(count)), comm, choice_of(choice));
  });
}

/// The same of a function among neighbours, whose arguments are those of a collective among all ranks.
#define CIRCOLL_C_NEIGHBOR_FUNCTIONS(name, parameters, arguments)                                                     \
  int circoll_mpi_neighbor_##name(CIRCOLL_LIST parameters, const char* choice) {                                      \
    return execute(CIRCOLL_AMONG_NEIGHBORS(name, arguments), choice);                                                 \
  }                                                                                                                   \
  int circoll_mpi_ineighbor_##name(CIRCOLL_LIST parameters, const char* choice, circoll_mpi_request* request) {       \
    return make(CIRCOLL_AMONG_NEIGHBORS(name, arguments), choice, request, RequestKind::nonblocking);                 \
  }                                                                                                                   \
  int circoll_mpi_neighbor_##name##_init(CIRCOLL_LIST parameters, const char* choice, circoll_mpi_request* request) { \
    return make(CIRCOLL_AMONG_NEIGHBORS(name, arguments), choice, request, RequestKind::persistent);                  \
  }
#define CIRCOLL_AMONG_NEIGHBORS(name, arguments) \
  circoll::mpi::calls::among_neighbors(circoll::NeighborFunction::name, circoll::mpi::calls::name arguments)

CIRCOLL_C_NEIGHBOR_FUNCTIONS(allgather,
                             (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm),
                             (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CIRCOLL_C_NEIGHBOR_FUNCTIONS(allgatherv,
                             (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const int64_t* recvcounts, const int64_t* displs, MPI_Datatype recvtype, MPI_Comm comm),
                             (sendbuf, sendcount, sendtype, recvbuf, counts_of(recvcounts), counts_of(displs), recvtype,
                              comm))
CIRCOLL_C_NEIGHBOR_FUNCTIONS(alltoall,
                             (const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm),
                             (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CIRCOLL_C_NEIGHBOR_FUNCTIONS(alltoallv,
                             (const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                              MPI_Datatype sendtype, void* recvbuf, const int64_t* recvcounts, const int64_t* rdispls,
                              MPI_Datatype recvtype, MPI_Comm comm),
                             (sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtype, recvbuf,
                              counts_of(recvcounts), counts_of(rdispls), recvtype, comm))
CIRCOLL_C_NEIGHBOR_FUNCTIONS(alltoallw,
                             (const void* sendbuf, const int64_t* sendcounts, const int64_t* sdispls,
                              const MPI_Datatype* sendtypes, void* recvbuf, const int64_t* recvcounts,
                              const int64_t* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm),
                             (sendbuf, counts_of(sendcounts), counts_of(sdispls), sendtypes, recvbuf,
                              counts_of(recvcounts), counts_of(rdispls), recvtypes, comm))

#undef CIRCOLL_LIST
#undef CIRCOLL_C_FUNCTIONS
#undef CIRCOLL_C_NEIGHBOR_FUNCTIONS
#undef CIRCOLL_AMONG_NEIGHBORS

}  // extern "C"
