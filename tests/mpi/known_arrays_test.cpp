// Calls with arrays of counts and displacements are remembered by the numbers in them.
#include <memory>
#include <string>
#include <vector>

#include "against_native.hpp"
#include "circoll/collectives.hpp"
#include "derived_types.hpp"
#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/operation_parts.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "harness.hpp"

namespace circoll::test {
namespace {

/// Equal numbers come again and again, in new arrays, and others come in between.
TEST_MPI(calls_with_arrays_come_again) {
  const ReduceSpec& sums = reduce_specs().front();
  for (const Collective collective : all_collectives) {
    if (!is_irregular(collective)) continue;
    for_each_algorithm(collective, {.commutative = sums.op.commutative}, [&](const Algorithm& algorithm) {
      for (const bool in_place : {false, true}) {
        for (const Count count : {9, 9, 9, 4, 9, 4, 4, 9}) {
          check_against_native({.collective = collective,
                                .algorithm = &algorithm,
                                .count = count,
                                .type = is_reducing(collective) ? sums.type : move_specs().front(),
                                .op = sums.op,
                                .root = world_size() / 2,
                                .in_place = in_place});
        }
      }
    });
  }
}

struct Named {
  Collective collective;
  const char* algorithm;
  bool known;  ///< from its second time on
};

TEST_MPI(calls_with_arrays_are_known_by_their_numbers) {
  const int p = world_size(), root = p - 1;
  if (p == 1) return;
  const auto ranks = static_cast<std::size_t>(p);
  for (const Named named :
       {Named{Collective::allgatherv, "ring", true}, Named{Collective::gatherv, "linear", true},
        Named{Collective::scatterv, "linear", true}, Named{Collective::alltoallv, "linear", true},
        Named{Collective::reduce_scatter, "circulant", true},
        // These exchange counts, which another rank may have changed.
        Named{Collective::gatherv, "binomial", false}, Named{Collective::alltoallv, "bruck", false}}) {
    const Collective collective = named.collective;
    const mpi::InternedChoice& choice = *mpi::intern(collective, named.algorithm);
    MPI_Comm comm = MPI_COMM_NULL;  // whose memory is empty
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<int> in(3 * ranks + 1), out(3 * ranks + 1), counts(ranks, 3), displs(ranks);
    for (std::size_t i = 0; i < ranks; ++i) displs[i] = static_cast<int>(3 * i);
    const bool has_arrays = !is_rooted(collective) || world_rank() == root;
    const auto call_with = [&](const std::vector<int>& numbers, const std::vector<int>& places) {
      mpi::Call call{.collective = collective,
                     .sendbuf = in.data(),
                     .recvbuf = out.data(),
                     .sendcount = 3,
                     .recvcount = 3,
                     .sendtype = MPI_INT,
                     .recvtype = MPI_INT,
                     .op = MPI_SUM,
                     .root = root,
                     .comm = comm};
      // Where they are not significant, they may be anything.
      static const int nothing = 0;
      const mpi::CountArray number_array(has_arrays ? numbers.data() : &nothing);
      const mpi::CountArray place_array(has_arrays ? places.data() : &nothing);
      if (has_sendcounts(collective)) call.sendcounts = number_array;
      if (has_sendcounts(collective)) call.senddispls = place_array;
      if (has_recvcounts(collective)) call.recvcounts = number_array;
      if (has_recvdispls(collective)) call.recvdispls = place_array;
      return call;
    };
    const auto is_known = [&](const mpi::Call& call) {
      int error = MPI_SUCCESS;
      mpi::CommState& state = *mpi::CommState::of(comm, &error);
      return state.attached<mpi::KnownCalls>().find(call, choice, state).served != nullptr;
    };
    const std::string id = std::string(to_string(collective)) + "/" + named.algorithm;
    {
      const std::vector<int> first_counts = counts, first_displs = displs;
      const mpi::Call call = call_with(first_counts, first_displs);
      for (int time = 0; time < 2; ++time) {
        expect(!is_known(call), id + " is not known before its second time");
        expect(mpi::perform(call, choice, mpi::Unserved::refuse).served() != nullptr, id + " is served");
      }
    }
    expect(is_known(call_with(counts, displs)) == named.known, id + ": equal numbers in other arrays");
    if (has_arrays) {
      std::vector<int> others = counts;
      --others.back();
      expect(!is_known(call_with(others, displs)), id + ": another count");
      others = displs;
      ++others.back();
      const bool has_displs = has_sendcounts(collective) || has_recvdispls(collective);
      expect(!has_displs || !is_known(call_with(counts, others)), id + ": another displacement");
    }
    MPI_Comm_free(&comm);
  }
}

/// A policy that has one algorithm, which forwards blocks. It is not named by the caller.
class Forwarding final : public Policy {
 public:
  explicit Forwarding(Selection selection) : selection_(std::move(selection)) {}
  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    (void)facts;
    return {.selection = selection_, .policy = "test", .reason = "test"};
  }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] bool names_algorithm() const override { return true; }

 private:
  Selection selection_;
  Machine machine_{};
};

enum class Way { blocking, nonblocking, persistent };

void wait_for(MPI_Request& request) {
  for (int done = 0; done == 0;) {
    mpi::progress().poll();
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

/// An alltoallv in which each rank sends `usual` bytes to each, but `most` to rank 0 if it is the `sender`, or if there
/// is none (-1). Returns the name of the algorithm that served a blocking call.
std::string exchange_bytes(const mpi::InternedChoice& choice, int usual, int most, int sender,
                           Way way = Way::blocking) {
  const int p = world_size(), rank = world_rank();
  const auto bytes = [&](int from, int to) { return to == 0 && (from == sender || sender < 0) ? most : usual; };
  std::vector<int> send_counts, send_displs, recv_counts, recv_displs;
  std::vector<char> in, out, expected;
  for (int other = 0; other < p; ++other) {
    send_counts.push_back(bytes(rank, other));
    send_displs.push_back(static_cast<int>(in.size()));
    in.insert(in.end(), static_cast<std::size_t>(send_counts.back()), static_cast<char>(3 * rank + other));
    recv_counts.push_back(bytes(other, rank));
    recv_displs.push_back(static_cast<int>(expected.size()));
    expected.insert(expected.end(), static_cast<std::size_t>(recv_counts.back()), static_cast<char>(3 * other + rank));
  }
  out.resize(expected.size());
  const mpi::Call call{.collective = Collective::alltoallv,
                       .sendbuf = in.data(),
                       .recvbuf = out.data(),
                       .sendcounts = mpi::CountArray(send_counts.data()),
                       .recvcounts = mpi::CountArray(recv_counts.data()),
                       .senddispls = mpi::CountArray(send_displs.data()),
                       .recvdispls = mpi::CountArray(recv_displs.data()),
                       .sendtype = MPI_BYTE,
                       .recvtype = MPI_BYTE,
                       .comm = MPI_COMM_WORLD};
  if (way == Way::blocking) {
    const mpi::CallResult result = mpi::perform(call, choice, mpi::Unserved::refuse);
    expect(result.error == MPI_SUCCESS && out == expected, "the blocks have come");
    return std::string(result.served()->algorithm->name);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  if (way == Way::nonblocking) {
    (void)mpi::start(call, choice, &request, {});
    wait_for(request);
    expect(out == expected, "the blocks of a nonblocking call have come");
    return {};
  }
  (void)mpi::init(call, choice, MPI_INFO_NULL, &request, {});
  for (int time = 0; time < 3; ++time) {
    std::ranges::fill(out, '\0');
    expect(mpi::start_persistent(request, &error) && error == MPI_SUCCESS, "a persistent request starts");
    wait_for(request);
    expect(out == expected, "the blocks of a persistent call have come");
  }
  expect(mpi::free_persistent(&request, &error), "a persistent request is freed");
  return {};
}

TEST_MPI(much_data_of_one_rank_go_straight) {
  if (world_size() == 1) return;
  constexpr int limit = mpi::CountExchange::most_forwarded_bytes;
  static std::vector<std::unique_ptr<Forwarding>> policies;  // choices refer to them
  for (const char* const name : {"node_aware:cores=2", "circulant", "radix_bruck"}) {
    const std::string forwards = parse_selection(Collective::alltoallv, name).algorithm->name.data();
    policies.push_back(std::make_unique<Forwarding>(parse_selection(Collective::alltoallv, name)));
    const mpi::InternedChoice& unnamed = *mpi::intern(Collective::alltoallv, *policies.back());
    const mpi::InternedChoice& named = *mpi::intern(Collective::alltoallv, name);
    const int p = world_size();
    for (int time = 0; time < 3; ++time) {
      const int sender = time == 0 ? 0 : p - 1;
      expect(exchange_bytes(unnamed, 5, 7, sender) == forwards, std::string(name) + " serves short blocks");
      expect(exchange_bytes(unnamed, 0, limit, sender) == forwards, std::string(name) + " serves the most that it may");
      // One rank sends a byte more, or receives some.
      expect(exchange_bytes(unnamed, 1, limit - p + 2, sender) == "linear", std::string(name) + ": much is sent");
      expect(exchange_bytes(unnamed, 0, limit / 2 + 1, -1) == "linear", std::string(name) + ": much is received");
      expect(exchange_bytes(named, 1, limit, sender) == forwards, std::string(name) + " was named");
      for (const Way way : {Way::nonblocking, Way::persistent}) {
        (void)exchange_bytes(unnamed, 5, 7, sender, way);
        (void)exchange_bytes(unnamed, 1, limit, sender, way);
      }
    }
  }
}

}  // namespace
}  // namespace circoll::test
