// Calls with arrays of counts and displacements are remembered by the numbers in them.
#include <string>
#include <vector>

#include "against_native.hpp"
#include "circoll/collectives.hpp"
#include "derived_types.hpp"
#include "exec/mpi/serve/known_calls.hpp"
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

}  // namespace
}  // namespace circoll::test
