// An allreduce and an alltoall over the installed library, the first by an algorithm named in the call.
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
  if (rank == 0) std::printf("p %d %s\n", size, right ? "right" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
