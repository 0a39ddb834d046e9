#include "interpose/collect.hpp"

#include <string>
#include <vector>

#include "exec/mpi/library/base.hpp"

namespace circoll::interpose {
namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20U;
constexpr int round_trips = 8;
constexpr int tag = 0;

}  // namespace

MPI_Comm collecting_communicator(mpi::UnsetHandlers handlers) {
  MPI_Comm made = MPI_COMM_NULL;
  (void)mpi::private_duplicate(mpi::base_world(), &made, handlers);
  return made;
}

bool reduce_apart(void* values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  return PMPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, &request) == MPI_SUCCESS &&
         PMPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

void collect(MPI_Comm comm, const std::function<void(const std::function<void(std::string_view)>& sink)>& produce,
             const std::function<void(int rank, std::string_view part)>& consume) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  if (rank == 0) {
    produce([&](std::string_view part) { consume(0, part); });
    std::vector<char> part(part_bytes);
    for (int source = 1; source < size; ++source) {
      int length = 0;
      do {  // an empty part is the end
        MPI_Status status;
        if (PMPI_Recv(part.data(), static_cast<int>(part_bytes), MPI_BYTE, source, tag, comm, &status) != MPI_SUCCESS)
          return;
        PMPI_Get_count(&status, MPI_BYTE, &length);
        consume(source, {part.data(), static_cast<std::size_t>(length)});
      } while (length > 0);
    }
    return;
  }
  std::string pending;
  const auto send = [&](std::string_view part) {
    PMPI_Send(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, tag, comm);
  };
  produce([&](std::string_view part) {
    pending += part;
    std::size_t sent = 0;
    for (; pending.size() - sent >= part_bytes; sent += part_bytes) {
      send(std::string_view(pending).substr(sent, part_bytes));
    }
    pending.erase(0, sent);
  });
  if (!pending.empty()) send(pending);
  send({});
}

ClockReading read_clock(MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  ClockReading best{.at_s = PMPI_Wtime(), .offset_s = 0, .error_s = rank == 0 ? 0 : 1e9};
  for (int other = 1; other < size; ++other) {
    if (rank != 0 && rank != other) continue;
    const int partner = rank == 0 ? other : 0;
    double theirs = 0;
    for (int i = 0; i < round_trips; ++i) {
      if (rank == 0) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, partner, tag, comm, MPI_STATUS_IGNORE);
        theirs = PMPI_Wtime();
        PMPI_Send(&theirs, 1, MPI_DOUBLE, partner, tag, comm);
        continue;
      }
      const double begin = PMPI_Wtime();
      PMPI_Send(nullptr, 0, MPI_BYTE, partner, tag, comm);
      PMPI_Recv(&theirs, 1, MPI_DOUBLE, partner, tag, comm, MPI_STATUS_IGNORE);
      const double end = PMPI_Wtime();
      // Rank 0 read its clock between the two; the middle is wrong by half of the trip at most.
      if ((end - begin) / 2 >= best.error_s) continue;
      best = {.at_s = end, .offset_s = theirs - (begin + end) / 2, .error_s = (end - begin) / 2};
    }
  }
  return best;
}

}  // namespace circoll::interpose
