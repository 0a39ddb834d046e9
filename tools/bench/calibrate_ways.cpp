#include "calibrate_ways.hpp"

#include <mpi.h>

#include <string>
#include <vector>

#include "asleep.hpp"
#include "circoll/mpi.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/comm/neighbours.hpp"
#include "timed_pair.hpp"

namespace circoll::bench {
namespace {

/// The ways of messages to the other ranks of this node. None, if memory does not reach some of them.
std::vector<SampledWay> ways_here() {
  const mpi::NodeUse use = mpi::node_use();
  if (use.others == 0 || use.by_memory < use.others) return {};
  const bool all_read = use.read_directly == use.others;
  std::vector<SampledWay> ways;
  if (!all_read || use.read_from > 0) ways.push_back({.name = "stored", .from_bytes = 0});
  if (all_read) ways.push_back({.name = "direct", .from_bytes = use.read_from, .read = true});
  return ways;
}

/// Both ranks are the root of half of the bursts, so that one must end before the next one begins.
void measure_with(const TimedPair& pair, MPI_Comm both, std::vector<Sample>* samples) {
  std::vector<char> buffer(static_cast<std::size_t>(2 * largest_bytes), 0);
  const auto add = [&](SampleKind kind, Count bytes, double seconds) {
    samples->push_back({.kind = kind, .bytes = bytes, .seconds = seconds});
  };
  const std::string pipeline = "pipeline:segments=" + std::to_string(burst);
  const Choice recursive_doubling("recursive_doubling"), cut(pipeline);
  for (const Count bytes : sizes()) {
    add(SampleKind::memory_exchange, bytes, pair.time([&] {
      mpi::allgather(MPI_IN_PLACE, bytes, MPI_BYTE, buffer.data(), bytes, MPI_BYTE, both, recursive_doubling);
    }));
    const Count elements = bytes / Count{sizeof(double)};
    if (elements == 0) continue;
    add(SampleKind::memory_reduction, bytes, pair.time([&] {
      mpi::allreduce(MPI_IN_PLACE, buffer.data(), elements, MPI_DOUBLE, MPI_SUM, both, recursive_doubling);
    }));
    if (bytes * burst > largest_bytes) continue;
    const double there_and_back = pair.time([&] {
      mpi::bcast(buffer.data(), bytes * burst, MPI_BYTE, 0, both, cut);
      mpi::bcast(buffer.data(), bytes * burst, MPI_BYTE, 1, both, cut);
    });
    add(SampleKind::memory_burst, bytes, there_and_back / 2);
  }
}

/// The mean, since ranks take turns: most calls are short, and some wait for a turn of all others.
double seconds_of_crowded(Rank ranks) {
  constexpr Count bytes = 8;
  constexpr int repetitions = 2000;
  std::vector<char> buffer(static_cast<std::size_t>(ranks * bytes), 0);
  const auto repeat = [&](int times) {
    for (int i = 0; i < times; ++i) {
      mpi::allgather(MPI_IN_PLACE, bytes, MPI_BYTE, buffer.data(), bytes, MPI_BYTE, MPI_COMM_WORLD, "linear");
    }
  };
  repeat(repetitions / 10);
  const double begin = PMPI_Wtime();
  repeat(repetitions);
  return (PMPI_Wtime() - begin) / repetitions;
}

}  // namespace

void measure_ways(int rank, int peer, Calibration* calibration) {
  mpi::barrier(MPI_COMM_WORLD, "dissemination");  // the first call finds the neighbours
  std::vector<SampledWay> ways = peer == 0 ? std::vector<SampledWay>{} : ways_here();
  auto number = static_cast<int>(ways.size());
  must(PMPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (number == 0) return;
  const bool takes_part = rank == 0 || rank == peer;
  MPI_Comm both = MPI_COMM_NULL;
  must(PMPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &both));
  if (takes_part) {
    measure_with(TimedPair(rank, rank == 0 ? peer : 0), both, &calibration->samples);
    must(PMPI_Comm_free(&both));
  }
  wait_asleep();
  int error = MPI_SUCCESS;
  const Placement& placement = mpi::CommState::of(MPI_COMM_WORLD, &error)->placement();
  const Rank ranks = mpi::size_of(MPI_COMM_WORLD);
  if (placement.crowded && placement.cores == ranks) {
    const double seconds = seconds_of_crowded(ranks);
    calibration->samples.push_back(
        {.kind = SampleKind::memory_crowded, .bytes = 8, .seconds = seconds, .ranks = ranks});
  }
  calibration->ways = std::move(ways);
}

}  // namespace circoll::bench
