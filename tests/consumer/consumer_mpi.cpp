// Calls over the installed library: into buffers, by value, and nonblocking. The first names its algorithm in the call.
#include <cstdio>
#include <vector>

#include "circoll/mpi.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<int> mine(1000, rank + 1);
  std::vector<int> sum(1000);
  circoll::allreduce(mine, sum, circoll::Op::sum, MPI_COMM_WORLD, "circulant_optimal");
  std::vector<int> heard(static_cast<std::size_t>(size));
  circoll::alltoall(std::vector<int>(heard.size(), rank), heard, MPI_COMM_WORLD);
  bool right = sum == std::vector<int>(1000, size * (size + 1) / 2);
  for (std::size_t i = 0; i < heard.size(); ++i) right = right && heard[i] == static_cast<int>(i);

  // Results by value: sizes follow from the arguments, or are exchanged.
  right = right && circoll::allreduce(rank, circoll::Op::max, MPI_COMM_WORLD) == size - 1;
  const auto [all, counts] = circoll::allgatherv(std::vector<int>(static_cast<std::size_t>(rank + 1), rank),
                                                 MPI_COMM_WORLD, circoll::with_counts);
  right = right && all.size() == static_cast<std::size_t>(size * (size + 1) / 2) && counts.back() == size;

  // A call under way while the program computes.
  std::vector<int> later(1000);
  circoll::Request request = circoll::allreduce(mine, later, circoll::Op::sum, circoll::nonblocking(MPI_COMM_WORLD));
  request.wait();
  right = right && later == sum;
  if (rank == 0) std::printf("p %d %s\n", size, right ? "right" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
