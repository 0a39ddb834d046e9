// The names that algorithms have in other libraries are those of the libraries' own options.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

using enum Collective;
using Options = std::map<Collective, std::set<std::string, std::less<>>>;

/// Open MPI 4.1.4: `ompi_info --param coll tuned --level 9`, the values of
/// coll_tuned_COLLECTIVE_algorithm but `ignore`.
const Options& openmpi_options() {
  static const Options options{
      {allreduce, {"basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}},
      {alltoall, {"linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"}},
      {allgather, {"linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"}},
      {allgatherv, {"default", "bruck", "ring", "neighbor", "two_proc"}},
      {alltoallv, {"basic_linear", "pairwise"}},
      {barrier, {"linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"}},
      {bcast,
       {"basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial",
        "scatter_allgather", "scatter_allgather_ring"}},
      {reduce, {"linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"}},
      {reduce_scatter, {"non-overlapping", "recursive_halving", "ring", "butterfly"}},
      {reduce_scatter_block, {"basic_linear", "recursive_doubling", "recursive_halving", "butterfly"}},
      {gather, {"basic_linear", "binomial", "linear_sync"}},
      {scatter, {"basic_linear", "binomial", "linear_nb"}},
      {exscan, {"linear", "recursive_doubling"}},
      {scan, {"linear", "recursive_doubling"}},
  };
  return options;
}

/// MPICH 4.0.2: the values of MPIR_CVAR_COLLECTIVE_INTRA_ALGORITHM, and those of the nonblocking collective with tsp_
/// or sched_ before them. Left out are auto, nb, and values that repeat one of the blocking collective. k_brucks is of
/// MPICH 4.1.
const Options& mpich_options() {
  static const Options options{
      {allreduce,
       {"smp", "recursive_doubling", "reduce_scatter_allgather", "sched_naive", "tsp_recexch_single_buffer",
        "tsp_recexch_multiple_buffer", "tsp_tree", "tsp_ring", "tsp_recexch_reduce_scatter_recexch_allgatherv"}},
      {alltoall, {"brucks", "k_brucks", "pairwise", "pairwise_sendrecv_replace", "scattered"}},
      {alltoallv, {"pairwise_sendrecv_replace", "scattered"}},
      {allgather, {"brucks", "k_brucks", "recursive_doubling", "ring", "tsp_recexch_doubling", "tsp_recexch_halving"}},
      {allgatherv, {"brucks", "recursive_doubling", "ring", "tsp_recexch_doubling", "tsp_recexch_halving"}},
      {barrier, {"smp", "dissemination", "sched_recursive_doubling"}},
      {bcast,
       {"binomial", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "tsp_tree",
        "tsp_scatterv_recexch_allgatherv", "tsp_ring"}},
      {reduce, {"binomial", "smp", "reduce_scatter_gather", "tsp_tree", "tsp_ring"}},
      {reduce_scatter, {"noncommutative", "pairwise", "recursive_doubling", "recursive_halving", "tsp_recexch"}},
      {reduce_scatter_block, {"noncommutative", "pairwise", "recursive_doubling", "recursive_halving", "tsp_recexch"}},
      {gather, {"binomial", "tsp_tree"}},
      {gatherv, {"linear"}},
      {scatter, {"binomial", "tsp_tree"}},
      {scatterv, {"linear"}},
      {exscan, {"recursive_doubling"}},
      {scan, {"recursive_doubling", "smp"}},
  };
  return options;
}

/// UCC: the names of the algorithms of TL/UCP, in its headers and `ucc_info -A`, and of CL/HIER for allreduce.
const Options& ucc_options() {
  static const Options options{
      {allreduce, {"knomial", "sra_knomial", "dbt", "sliding_window", "ring", "rab (CL/HIER)"}},
      {alltoall, {"pairwise", "bruck", "onesided", "linear"}},
      {alltoallv, {"pairwise", "hybrid", "onesided", "linear"}},
      {allgather, {"knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"}},
      {allgatherv, {"knomial", "ring", "sparbit"}},
      {barrier, {"knomial"}},
      {bcast, {"knomial", "sag_knomial", "dbt"}},
      {reduce, {"knomial", "dbt", "srg_knomial"}},
      {reduce_scatter, {"ring"}},
      {reduce_scatter_block, {"ring", "knomial"}},
      {gather, {"knomial"}},
      {gatherv, {"linear"}},
      {scatterv, {"linear"}},
  };
  return options;
}

bool has(const Options& options, Collective collective, std::string_view name) {
  const auto found = options.find(collective);
  return found != options.end() && found->second.contains(name);
}

std::string documentation() { return run("list --page peers").out; }

TEST(Peers, NamesAreThoseOfTheLibraries) {
  std::map<Library, int> named;
  for (const Collective collective : all_collectives) {
    for (const Algorithm* a : algorithms_of(collective)) {
      for (const std::string_view name : a->names_in(Library::openmpi, collective)) {
        ++named[Library::openmpi];
        // Open MPI's tuned component leaves these to the basic component.
        if (name == "linear (coll/basic)") {
          EXPECT_FALSE(openmpi_options().contains(collective)) << a->id(collective);
        } else {
          EXPECT_TRUE(has(openmpi_options(), collective, name)) << a->id(collective) << " is not " << name;
        }
      }
      for (const std::string_view name : a->names_in(Library::mpich, collective)) {
        ++named[Library::mpich];
        EXPECT_TRUE(has(mpich_options(), collective, name)) << a->id(collective) << " is not " << name;
      }
      for (const std::string_view name : a->names_in(Library::ucc, collective)) {
        ++named[Library::ucc];
        const std::string_view without_radix = name.substr(0, name.find(" (radix"));
        EXPECT_TRUE(has(ucc_options(), collective, without_radix)) << a->id(collective) << " is not " << name;
      }
    }
  }
  EXPECT_GT(named[Library::openmpi], 50);
  EXPECT_GT(named[Library::mpich], 35);
  EXPECT_GT(named[Library::ucc], 20);
}

TEST(Peers, NoNameIsDeclaredForACollectiveThatIsNotServed) {
  for (const Algorithm* a : all_algorithms()) {
    for (const Peer& peer : a->peers) {
      EXPECT_FALSE(peer.name.empty()) << a->name;
      for (const Collective c : peer.collectives) EXPECT_TRUE(a->serves(c)) << a->name << ": " << peer.name;
    }
  }
}

TEST(Peers, WhatOpenMpiAndMpichHaveIsHereOrLeftOutForAReason) {
  const std::string page = documentation();
  const std::size_t left_out = page.find("Left out, and why");
  ASSERT_NE(left_out, std::string::npos);
  for (const Library library : {Library::openmpi, Library::mpich}) {
    for (const auto& [collective, names] : library == Library::openmpi ? openmpi_options() : mpich_options()) {
      for (const std::string& name : names) {
        bool here = false;
        for (const Algorithm* a : algorithms_of(collective)) {
          for (const std::string_view declared : a->names_in(library, collective)) here = here || declared == name;
        }
        EXPECT_TRUE(here || page.find(name, left_out) != std::string::npos) << to_string(collective) << ": " << name;
      }
    }
  }
}

TEST(Peers, WhatIsHereIsNotLeftOut) {
  const std::string page = documentation();
  const std::string left_out = page.substr(page.find("Left out, and why"));
  for (const std::string_view here : {"dbt", "k_brucks", "knomial (radix", "one port"})
    EXPECT_EQ(left_out.find(here), std::string::npos) << here;
}

TEST(Peers, TheTreeOfOpenMpiNamesAlgorithmsThatExist) {
  for (const std::string_view name :
       {"linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"}) {
    EXPECT_NE(find_algorithm(Collective::allreduce, name), nullptr) << name;
  }
}

}  // namespace
}  // namespace circoll
