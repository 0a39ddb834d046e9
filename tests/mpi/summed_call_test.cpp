// The stages of CIRCOLL_SUM on thousands of ranks: their memory is bounded, and they send little more than the vector.
#include <algorithm>
#include <string>
#include <vector>

#include "circoll/collectives.hpp"
#include "exec/mpi/call/summed_call.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// The most that a stage stages, and the bytes that arrive at this rank in all stages.
struct Needs {
  Count staged_bytes = 0;
  Count received_bytes = 0;
};

Needs needs_of(Collective collective, Count count, Rank size) {
  const std::vector<Count> counts(static_cast<std::size_t>(size), count);
  mpi::Call call;
  call.collective = collective;
  call.sendcount = call.recvcount = count;
  if (collective == Collective::reduce_scatter) call.recvcounts = mpi::CountArray(counts.data());
  call.sendtype = MPI_DOUBLE;
  call.op = MPI_SUM;
  mpi::SummedCall summed(call, Type::float64, mpi::Sums::exact, false, size / 2, size);
  Needs needs;
  for (Count stage = 0; stage < summed.stages(); ++stage) {
    summed.set_stage(stage);
    const Count staged = summed.kept_bytes() + summed.send_staging_bytes() + summed.recv_staging_bytes();
    needs.staged_bytes = std::max(needs.staged_bytes, staged);
    const prepare::Signature signature = summed.signature();
    for (Rank i = 0; i < size; ++i)
      needs.received_bytes += signature.counts.size > 0 ? signature.counts[i] : signature.head.count;
  }
  return needs;
}

TEST_MPI(summed_calls_bound_their_memory) {
  if (world_rank() != 0) return;
  constexpr Count most = (Count{3} << 24) + (1 << 20);
  for (const Rank size : {3, 128, 1000, 16384}) {
    for (const Count count : {Count{1}, Count{1023}, Count{1} << 20, Count{750000001}}) {
      for (const Collective collective : all_collectives) {
        if (!is_reducing(collective) || collective == Collective::scan || collective == Collective::exscan) continue;
        if (is_reduce_scatter(collective) && count > Count{1} << 20) continue;
        const Count staged = needs_of(collective, count, size).staged_bytes;
        expect(staged <= most, std::string(to_string(collective)) + " of " + std::to_string(count) + " on " +
                                   std::to_string(size) + " ranks stages " + std::to_string(staged));
      }
    }
  }
}

TEST_MPI(summed_calls_exchange_short_vectors_on_many_ranks) {
  if (world_rank() != 0) return;
  for (const Rank size : {128, 1024, 16384}) {
    for (const Count count : {Count{255}, Count{size / 4 - 1}}) {
      const Count received = needs_of(Collective::allreduce, count, size).received_bytes;
      // Sixteen for each rank, or what is gathered at most.
      expect(received <= std::max<Count>(size * 16 + 2 * count * 8, 32 << 10), std::to_string(received));
    }
  }
}

}  // namespace
}  // namespace circoll::test
