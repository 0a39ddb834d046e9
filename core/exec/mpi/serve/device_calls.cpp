#include "exec/mpi/serve/device_calls.hpp"

#include "circoll/collectives.hpp"
#include "exec/mpi/call/device_buffers.hpp"

namespace circoll::mpi {

int find_device_memory(const Call& call, const CommState& state, bool* found) {
  *found = false;
  if (!state.expects_devices() || !traits_of(call.collective).moves_data) return MPI_SUCCESS;
  int here = has_device_buffer(call, state.rank(), state.size()) ? 1 : 0;
  int anywhere = here;
  if (state.size() > 1) {
    if (const int rc = PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, call.comm); rc != MPI_SUCCESS) return rc;
  }
  *found = anywhere != 0;
  return MPI_SUCCESS;
}

std::string_view unanswered(const Call& call, const CommState& state) {
  if (!state.expects_devices() || !traits_of(call.collective).moves_data) return {};
  if (state.size() == 1) return has_device_buffer(call, 0, 1) ? in_device_memory : std::string_view();
  return "ranks cannot agree in a nonblocking call whether its buffers are in device memory";
}

}  // namespace circoll::mpi
