// The table of facts about collectives against the MPI standard, and the amounts of calls against sums by hand.
#include "circoll/collectives.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/error.hpp"
#include "facts/called_collective.hpp"
#include "facts/mpi_functions.hpp"

namespace circoll {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The names of the collectives of which something is true.
template <typename Predicate>
Names all_that(Predicate&& predicate) {
  Names names;
  for (const Collective collective : all_collectives) {
    if (predicate(collective)) names.emplace(to_string(collective));
  }
  return names;
}

TEST(CalledCollective, IsReadByItsName) {
  std::vector<CalledCollective> all{CalledCollective::alltoallw()};
  all.insert(all.end(), all_collectives.begin(), all_collectives.end());
  all.insert(all.end(), all_neighbor_functions.begin(), all_neighbor_functions.end());
  std::set<std::string_view> names;
  for (const CalledCollective& one : all) {
    names.insert(to_string(one));
    EXPECT_EQ(called_from_string(to_string(one)), one) << to_string(one);
  }
  EXPECT_EQ(names.size(), all.size());
  EXPECT_EQ(called_from_string("neighbor_bcast"), std::nullopt);
}

TEST(Collectives, AreFoundByTheirNames) {
  EXPECT_EQ(collective_from_string("reduce_scatter_block"), Collective::reduce_scatter_block);
  EXPECT_EQ(collective_from_string("exscan"), Collective::exscan);
  EXPECT_EQ(collective_from_string("alltoallw"), std::nullopt);
  EXPECT_EQ(all_that([](Collective) { return true; }).size(), all_collectives.size());
}

TEST(Collectives, HaveThePropertiesThatMpiSays) {
  EXPECT_EQ(all_that(is_rooted), (Names{"reduce", "gather", "gatherv", "scatter", "scatterv", "bcast"}));
  EXPECT_EQ(all_that(is_reducing),
            (Names{"allreduce", "reduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"}));
  EXPECT_EQ(all_that(is_irregular), (Names{"reduce_scatter", "allgatherv", "gatherv", "scatterv", "alltoallv"}));
  EXPECT_EQ(all_that(is_prefix), (Names{"scan", "exscan"}));
  EXPECT_EQ(all_that(is_exchange), (Names{"alltoall", "alltoallv"}));
  EXPECT_EQ(all_that(has_unknown_size), (Names{"gatherv", "scatterv", "alltoallv"}));
  EXPECT_EQ(all_that([](Collective c) { return !size_decides(c); }),
            (Names{"gatherv", "scatterv", "alltoallv", "barrier"}));
  EXPECT_EQ(all_that(has_sendcounts), (Names{"scatterv", "alltoallv"}));
  EXPECT_EQ(all_that(has_recvcounts), (Names{"reduce_scatter", "allgatherv", "gatherv", "alltoallv"}));
  EXPECT_EQ(all_that(has_recvdispls), (Names{"allgatherv", "gatherv", "alltoallv"}));
  EXPECT_EQ(all_that(replaces_recvbuf), (Names{"scatter", "scatterv"}));
}

TEST(Collectives, HaveTwinsThatDifferInSizesOnly) {
  EXPECT_EQ(regular_of(Collective::reduce_scatter), Collective::reduce_scatter_block);
  EXPECT_EQ(regular_of(Collective::alltoallv), Collective::alltoall);
  EXPECT_EQ(regular_of(Collective::bcast), Collective::bcast);
  EXPECT_TRUE(are_twins(Collective::gather, Collective::gatherv));
  EXPECT_FALSE(are_twins(Collective::gather, Collective::allgather));
  EXPECT_FALSE(are_twins(Collective::scan, Collective::exscan));
}

TEST(Collectives, SayWhereBuffersAreSignificant) {
  constexpr Rank root = 2;
  const auto at = [](Collective collective, Rank rank) {
    const CollectiveTraits& traits = traits_of(collective);
    return std::string(is_significant(traits.send, rank, root) ? "s" : "") +
           (is_significant(traits.recv, rank, root) ? "r" : "") + (can_be_in_place(collective, rank, root) ? "i" : "");
  };
  for (const Collective c : {Collective::reduce, Collective::gather, Collective::gatherv}) {
    EXPECT_EQ(at(c, root), "sri") << to_string(c);
    EXPECT_EQ(at(c, 0), "s") << to_string(c);
  }
  for (const Collective c : {Collective::scatter, Collective::scatterv}) {
    EXPECT_EQ(at(c, root), "sri") << to_string(c);
    EXPECT_EQ(at(c, 0), "r") << to_string(c);
  }
  EXPECT_EQ(at(Collective::bcast, root), "r");
  EXPECT_EQ(at(Collective::bcast, 0), "r");
  EXPECT_EQ(at(Collective::exscan, 0), "si");
  EXPECT_EQ(at(Collective::exscan, 1), "sri");
  for (const Collective c :
       {Collective::allreduce, Collective::reduce_scatter_block, Collective::reduce_scatter, Collective::allgather,
        Collective::allgatherv, Collective::alltoall, Collective::alltoallv, Collective::scan}) {
    EXPECT_EQ(at(c, 0), "sri") << to_string(c);
    EXPECT_EQ(at(c, root), "sri") << to_string(c);
  }
}

TEST(Amounts, OfElements) {
  // 10 elements of 8 bytes, on 5 ranks: in the vector, or in each block.
  EXPECT_EQ(Amounts::of_count(Collective::allreduce, 5, 10, 8).vector_bytes(), 80);
  EXPECT_EQ(Amounts::of_count(Collective::allgather, 5, 10, 8).vector_bytes(), 400);
  EXPECT_EQ(Amounts::of_count(Collective::alltoall, 5, 10, 8).vector_bytes(), 400);  // not those of all pairs
  EXPECT_EQ(Amounts::of_count(Collective::allgather, 5, 10, 8).block_bytes(), 80);
  EXPECT_EQ(Amounts::of_count(Collective::bcast, 5, 10, 8).block_bytes(), 80);
  const std::vector<Count> counts{1, 0, 7};
  EXPECT_EQ(Amounts::of_counts(Collective::allgatherv, 3, counts, 4).vector_bytes(), 32);
  EXPECT_EQ(Amounts::of_counts(Collective::reduce_scatter, 3, counts, 4).deciding_bytes(), 32);
  EXPECT_EQ(Amounts::of_counts(Collective::gatherv, 3, counts, 4).deciding_bytes(), 0);
  EXPECT_EQ(Amounts::of_counts(Collective::gather, 3, std::vector<Count>{5}, 4).vector_bytes(), 60);
}

TEST(Amounts, ThatDecideAreKnownToAllRanks) {
  EXPECT_EQ(Amounts::of_vector(Collective::gather, 4, 100).deciding_bytes(), 100);
  EXPECT_EQ(Amounts::of_vector(Collective::allgatherv, 4, 100).deciding_bytes(), 100);
  EXPECT_EQ(Amounts::of_vector(Collective::scatterv, 4, 100).deciding_bytes(), 0);
  EXPECT_EQ(Amounts::of_vector(Collective::alltoallv, 4, 100).deciding_bytes(), 0);
  EXPECT_EQ(Amounts::of_vector(Collective::barrier, 4, 100).deciding_bytes(), 0);
}

TEST(Amounts, AsMeasuredAndAsReported) {
  // circoll-bench counts a block, the vector, or all that a rank sends.
  EXPECT_EQ(Amounts::of_measured(Collective::scatter, 4, 100).vector_bytes(), 400);
  EXPECT_EQ(Amounts::of_measured(Collective::reduce_scatter, 4, 100).vector_bytes(), 400);
  EXPECT_EQ(Amounts::of_measured(Collective::alltoall, 4, 100).vector_bytes(), 100);
  EXPECT_EQ(Amounts::of_measured(Collective::alltoall, 4, 100).block_bytes(), 25);
  EXPECT_EQ(Amounts::of_measured(Collective::scan, 4, 100).vector_bytes(), 100);
  EXPECT_EQ(Amounts::of_vector(Collective::scatter, 4, 400).measured_bytes(), 100);
  EXPECT_EQ(Amounts::of_vector(Collective::alltoallv, 4, 400).measured_bytes(), 400);
  // The report counts the contribution of a rank, and for reduce_scatter the vector.
  EXPECT_EQ(Amounts::of_reported(Collective::gatherv, 4, 100).vector_bytes(), 400);
  EXPECT_EQ(Amounts::of_reported(Collective::reduce_scatter_block, 4, 100).vector_bytes(), 100);
  EXPECT_EQ(Amounts::of_reported(Collective::alltoall, 4, 100).vector_bytes(), 100);
  EXPECT_THROW((void)Amounts::of_measured(Collective::gather, 4, std::numeric_limits<Count>::max() / 3), Error);
  EXPECT_EQ(Amounts::of_measured(Collective::bcast, 4, std::numeric_limits<Count>::max()).vector_bytes(),
            std::numeric_limits<Count>::max());
}

TEST(MpiFunctions, AreNamedAsInTheStandard) {
  Names names;
  for (const MpiFunction& function : mpi_functions) names.emplace(function.name);
  EXPECT_EQ(names,
            (Names{"Allreduce", "Reduce", "Reduce_scatter_block", "Reduce_scatter", "Allgather", "Allgatherv", "Gather",
                   "Gatherv", "Scatter", "Scatterv", "Bcast", "Barrier", "Alltoall", "Alltoallv", "Scan", "Exscan"}));
}

}  // namespace
}  // namespace circoll
