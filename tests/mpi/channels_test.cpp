// One execution over several channels: the choice of the channel that serves a peer changes no result.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/message/execution.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// A channel over another communicator of the same ranks. It reports messages late, as channels of other kinds might.
class Detour final : public mpi::Channel {
 public:
  Detour(const Plan& plan, const mpi::MessageTable& messages, MPI_Comm comm) : inner_(plan, messages), comm_(comm) {}

  void start(const mpi::Binding& binding) override {
    binding_ = binding;
    binding_.route.comm = comm_;
    held_.clear();
    inner_.start(binding_);
  }
  bool begin(StepIndex step) override {
    ++begun_;
    return inner_.begin(step);
  }
  std::span<const StepIndex> poll() override {
    told_.swap(held_);
    held_.clear();
    const std::span<const StepIndex> news = inner_.poll();
    held_.assign(news.begin(), news.end());
    return told_;
  }
  [[nodiscard]] int error() const override { return inner_.error(); }
  [[nodiscard]] int truncation() const override { return inner_.truncation(); }
  void abandon() noexcept override { inner_.abandon(); }
  void halt(mpi::Halt& halt, const mpi::IsDead& is_dead) override { inner_.halt(halt, is_dead); }
  [[nodiscard]] int begun() const { return begun_; }

 private:
  mpi::MpiChannel inner_;
  MPI_Comm comm_;
  mpi::Binding binding_;
  std::vector<StepIndex> held_, told_;
  int begun_ = 0;
};

/// Runs an allreduce of int64 some times. Peers of the other parity (or all peers) use a second channel. Returns the
/// number of messages that this channel has served.
int run(const std::string& id, bool all, mpi::CommState& state, MPI_Comm other) {
  constexpr Count count = 100;
  const Rank p = state.size();
  const Schedule schedule = build_schedule(id, Shape{.size = p, .rank = state.rank(), .root = 0, .in_place = false});
  const Plan plan = bind(
      schedule, Layout::uniform(schedule.user_blocks, schedule.segments, schedule.user_blocks == 1 ? count : count / p),
      8, {});
  const Count elements = schedule.user_blocks == 1 ? count : count / p * schedule.user_blocks;
  mpi::TypeInfo info;
  info.size_bytes = info.extent_bytes = 8;
  const mpi::MessageTable messages(plan, MPI_BYTE, info);
  mpi::Execution execution(plan, messages);
  auto made = std::make_unique<Detour>(plan, messages, other);
  Detour& detour = *made;
  execution.add_channel(std::move(made));
  node::ConnectedPeer nobody(node::Address{});  // that a rank is a neighbour leads to the channel
  std::vector<mpi::NodePeer> ranks(static_cast<std::size_t>(p));
  for (Rank r = 0; r < p; ++r) {
    if (all || (r + state.rank()) % 2 != 0) ranks[static_cast<std::size_t>(r)].peer = &nobody;
  }
  const mpi::NodePeers node_peers(static_cast<int>(state.rank()), 0, ranks);

  std::vector<std::int64_t> mine(static_cast<std::size_t>(elements));
  std::vector<std::int64_t> sum(static_cast<std::size_t>(elements));
  std::vector<std::byte> scratch(static_cast<std::size_t>(plan.scratch_bytes) + 1);
  std::vector<std::byte> staging(static_cast<std::size_t>(messages.staging_bytes()) + 1);
  for (int round = 0; round < 20; ++round) {
    std::iota(mine.begin(), mine.end(), state.rank() * 1000 + round);
    mpi::Binding binding;
    binding.base = {reinterpret_cast<char*>(mine.data()), reinterpret_cast<char*>(sum.data()),
                    reinterpret_cast<char*>(scratch.data())};
    binding.staging = staging.data();
    binding.route = state.route(Collective::allreduce);
    binding.route.node_peers = &node_peers;
    binding.elements.extent_bytes = 8;
    binding.elements.kernel = reduce_kernel(Op::sum, Type::int64);
    execution.start(binding);
    expect(execution.wait() == MPI_SUCCESS && execution.complete(), id + ": the execution fails");
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const std::int64_t expected = p * (round + static_cast<std::int64_t>(i)) + 1000 * (p * (p - 1) / 2);
      if (sum[i] == expected) continue;
      fail(id + ": element " + std::to_string(i) + " is wrong in round " + std::to_string(round));
      return detour.begun();
    }
  }
  return detour.begun();
}

}  // namespace

TEST_MPI(executions_over_two_channels) {
  if (world_size() < 2) return;
  int error = MPI_SUCCESS;
  mpi::CommState* const state = mpi::CommState::of(MPI_COMM_WORLD, &error);
  expect(state != nullptr, "MPI_COMM_WORLD has no state");
  if (state == nullptr) return;
  if (!state->has_carrier()) expect(state->make_carrier() == MPI_SUCCESS, "there is no carrier");
  expect(state->open() == MPI_SUCCESS, "there are no tags");
  // The second channel numbers ranks as the first one does, by their ranks in the carrier.
  MPI_Comm other = MPI_COMM_NULL;
  PMPI_Comm_dup(state->route(Collective::allreduce).comm, &other);
  for (const char* const id : {"allreduce/recursive_doubling", "allreduce/circulant", "allreduce/ring",
                               "allreduce/rabenseifner", "allreduce/segmented_ring:segments=3"}) {
    for (const bool all : {false, true}) {
      // Some ranks have peers of their own parity only.
      int begun = run(id, all, *state, other);
      PMPI_Allreduce(MPI_IN_PLACE, &begun, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      expect(begun > 0, std::string(id) + ": nothing went over the second channel");
    }
  }
  PMPI_Comm_free(&other);
}

}  // namespace circoll::test
