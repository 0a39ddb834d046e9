// Bytes limit the memory that Circoll keeps: scratch memory, and plans.
#include <malloc.h>

#include <cstdint>
#include <vector>

#include "allocations.hpp"
#include "exec/mpi/message/arena.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

/// Allocations of acquiring and releasing all of `blocks` at the same time.
long allocations_of(mpi::ArenaPool& pool, const std::vector<std::size_t>& blocks) {
  std::vector<mpi::ArenaPool::Block> held;
  held.reserve(blocks.size());
  const long before = allocations;
  for (const std::size_t bytes : blocks) held.push_back(pool.acquire(bytes));
  for (const mpi::ArenaPool::Block& block : held) pool.release(block);
  return allocations - before;
}

}  // namespace

TEST_MPI(scratch_is_kept_up_to_a_limit) {
  static_assert(mpi::ArenaPool::kept_bytes == 256 * mebi);
  mpi::ArenaPool pool;
  (void)allocations_of(pool, {100 * mebi, 100 * mebi});
  expect(allocations_of(pool, {100 * mebi, 100 * mebi}) == 0, "200 MiB are not kept");
  (void)allocations_of(pool, {100 * mebi, 100 * mebi, 100 * mebi});
  expect(allocations_of(pool, {100 * mebi, 100 * mebi, 100 * mebi}) == 1, "of 300 MiB, 200 should be kept");
  (void)allocations_of(pool, {300 * mebi});  // the list of blocks may grow, too
  expect(allocations_of(pool, {300 * mebi}) == 1, "300 MiB at once are kept");
  expect(allocations_of(pool, {100 * mebi, 100 * mebi}) == 0, "a block that is too large to be kept drove out others");
  (void)allocations_of(pool, {200 * mebi});
  expect(allocations_of(pool, {200 * mebi}) == 0, "a larger block does not replace smaller ones");
}

// Plans of thousands of signatures, in a cache of 1 MiB.
TEST_MPI(plans_are_kept_up_to_a_limit) {
  constexpr Rank p = 1024;
  constexpr std::size_t limit = mebi;
  const mpi::InternedChoice* const choice = mpi::intern(Collective::allreduce, "circulant");
  mpi::TypeInfo info;
  info.size_bytes = info.extent_bytes = 1;
  prepare::PlanCache<mpi::BoundPlan> cache(limit);
  const auto find = [&](Count count) {
    mpi::Signature signature;
    signature.head.choice = choice;
    signature.head.collective = Collective::allreduce;
    signature.head.count = count;
    signature.head.size = p;
    signature.head.rank = 5;
    bool made = false;
    (void)cache.find(signature, [&](std::uint64_t hash) {
      made = true;
      return std::make_shared<mpi::BoundPlan>(signature, hash, MPI_BYTE, info, Placement{});
    });
    return made;
  };
  const auto in_use = [] { return static_cast<double>(mallinfo2().uordblks); };
  const double before = in_use();
  double most = 0;
  for (Count count = 1; count <= 3000; ++count) {
    expect(find(count), "a new signature has a plan already");
    expect(!find(count), "the plan just made is not kept");
    most = std::max(most, in_use() - before);
  }
  expect(cache.size() > 10 && cache.size() < 3000, std::to_string(cache.size()) + " plans are kept");
  // The memory that plans take is between 0.5 and 1.5 times the memory that they declare.
  expect(most > 0.5 * limit && most < 1.5 * limit, std::to_string(most) + " bytes are taken");
  expect(!find(3000) && find(1), "the least recently used plans go first");
  cache.clear();
  expect(in_use() - before < 0.25 * limit, "memory is left behind");  // malloc itself keeps some small pieces
}

}  // namespace circoll::test
