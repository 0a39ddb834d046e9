#include "asleep.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

#include "timed_pair.hpp"

namespace circoll::bench {

void wait_asleep() {
  MPI_Request request = MPI_REQUEST_NULL;
  must(PMPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (int done = 0; done == 0;) {
    must(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace circoll::bench
