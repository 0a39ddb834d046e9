// The surroundings of a run: library, processor, and how messages go inside nodes.
#include "table.hpp"

#include <mpi.h>

#include <array>
#include <vector>

#include "exec/device/runtimes.hpp"
#include "exec/mpi/comm/node_peers.hpp"
#include "exec/mpi/serve/shared_profile.hpp"

namespace circoll::bench {

Surroundings surroundings() {
  Surroundings here;
  const select::ProfileKey key = mpi::own_profile_key();
  here.library = key.library;
  here.processor = key.processor;
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0, size = 1;
  PMPI_Get_processor_name(host.data(), &length);
  here.host.assign(host.data(), static_cast<std::size_t>(length));
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const mpi::NodeUse mine = mpi::node_use();
  std::vector<mpi::NodeUse> all(static_cast<std::size_t>(size));
  PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (const mpi::NodeUse& one : all) {
    here.crowded |= one.crowded != 0;
    if (one.others == 0) continue;
    ++here.neighbours;
    if (one.by_memory == one.others) {
      ++here.by_memory;
    } else {
      here.reason = node::to_string(one.reason);
    }
    if (one.read_directly == one.others) {
      ++here.read_directly;
    } else if (one.read_directly < one.by_memory) {
      here.reading_reason = node::to_string(one.reading_reason);
    }
  }
  for (const device::LoadedRuntime& one : device::runtimes().inspect()) {
    here.devices.push_back({.name = std::string(one.name), .unused = std::string(one.unused)});
  }
  return here;
}

}  // namespace circoll::bench
