// Short plans on the in-order fast path leave it at any step if another rank is late. Their results are the engine's.
#include <sched.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/execution.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

constexpr Count count = 3;

/// An allreduce of int64 that is executed many times, with random delays of each rank.
class Late {
 public:
  Late(const std::string& id, mpi::CommState& state)
      : id_(id),
        state_(&state),
        schedule_(build_schedule(id, Shape{.size = state.size(), .rank = state.rank()})),
        plan_(bind(schedule_, Layout::uniform(schedule_.user_blocks, schedule_.segments, count), 8, {})),
        messages_(plan_, MPI_BYTE, eight_bytes()),
        execution_(plan_, messages_),
        random_(state.rank() + 1) {}

  void run(int rounds) {
    const Count elements = count * schedule_.user_blocks;
    std::vector<std::int64_t> mine(static_cast<std::size_t>(elements)), sum(mine.size());
    std::vector<std::byte> scratch(static_cast<std::size_t>(plan_.scratch_bytes) + 1);
    std::vector<std::byte> staging(static_cast<std::size_t>(messages_.staging_bytes()) + 1);
    const Rank p = state_->size();
    for (int round = 0; round < rounds; ++round) {
      std::iota(mine.begin(), mine.end(), state_->rank() * 1000 + round);
      mpi::Binding binding;
      binding.base = {reinterpret_cast<char*>(mine.data()), reinterpret_cast<char*>(sum.data()),
                      reinterpret_cast<char*>(scratch.data())};
      binding.staging = staging.data();
      binding.route = state_->route(Collective::allreduce);
      binding.elements.extent_bytes = 8;
      binding.elements.kernel = reduce_kernel(Op::sum, Type::int64);
      for (std::uint64_t late = random_() % 8 == 0 ? random_() % 500 : 0; late > 0; --late) sched_yield();
      execution_.start(binding);
      // The execution is polled a few times first, as a nonblocking operation is, and then waited for.
      for (std::uint64_t asked = random_() % 3 * (random_() % 100); asked > 0; --asked) (void)execution_.progress();
      expect(execution_.wait() == MPI_SUCCESS && execution_.complete(), id_ + ": the execution fails");
      expect(execution_.progress(), id_ + ": an execution that is over is not");
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const std::int64_t expected = p * (round + static_cast<std::int64_t>(i)) + 1000 * (p * (p - 1) / 2);
        if (sum[i] != expected) return fail(id_ + ": an element is wrong in round " + std::to_string(round));
      }
    }
  }

 private:
  static mpi::TypeInfo eight_bytes() {
    mpi::TypeInfo info;
    info.size_bytes = info.extent_bytes = 8;
    return info;
  }

  std::string id_;
  mpi::CommState* state_;
  Schedule schedule_;
  Plan plan_;
  mpi::MessageTable messages_;
  mpi::Execution execution_;
  std::mt19937_64 random_;
};

}  // namespace

TEST_MPI(short_plans_whoever_is_late) {
  int error = MPI_SUCCESS;
  mpi::CommState* const state = mpi::CommState::of(MPI_COMM_WORLD, &error);
  expect(state != nullptr, "MPI_COMM_WORLD has no state");
  if (state == nullptr) return;
  if (!state->has_carrier()) expect(state->make_carrier() == MPI_SUCCESS, "there is no carrier");
  expect(state->open() == MPI_SUCCESS, "there are no tags");
  for (const char* const id : {"allreduce/recursive_doubling", "allreduce/circulant", "allreduce/ring",
                               "allreduce/direct", "allreduce/linear"}) {
    Late(id, *state).run(200);
  }
}

}  // namespace circoll::test
