// docs/peers.md, made from the registry.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "list/list.hpp"

namespace circoll::cli {
namespace {

constexpr std::string_view peers_introduction = R"(# The algorithms of Open MPI, MPICH and UCC, and ours

Written by `circoll list --page peers`. By collective: the algorithms of Circoll that
another library has, too, under the name that its options have for it. Trees inside nodes may differ.

- Open MPI 4.1: the tuned component (`ompi_info --param coll tuned --level 9`), and coll/basic where that has none.
- MPICH 4.0: the control variables MPIR_CVAR_COLLECTIVE_INTRA_ALGORITHM; names that begin with `tsp_` and `sched_` are
  those of the nonblocking collective, which the blocking one takes as `nb`. `k_brucks` is of MPICH 4.1.
- UCC 1.x: TL/UCP and CL/HIER (`ucc_info -A`). Its k-nomial exchanges are ours for radix 2, and in allreduce and barrier
  for every radix. What MPI calls reduce_scatter_block and reduce_scatter is called reduce_scatter and reduce_scatterv
  there.

| collective | Circoll | Open MPI 4.1 | MPICH 4.0 | UCC |
|---|---|---|---|---|
)";

struct LeftOutPeer {
  std::string_view collective;
  std::string_view library;
  std::string_view algorithm;
  std::string_view reason;
};

constexpr auto left_out_peers = std::to_array<LeftOutPeer>({
    {"allreduce", "MPICH",
     "tsp_recexch_single_buffer, tsp_recexch_multiple_buffer, tsp_recexch_reduce_scatter_recexch_allgatherv; "
     "recursive_multiplying (4.3)",
     "ranks are folded onto a power of the radix; `recursive_multiplying` here folds fewer of them, as UCC's knomial"},
    {"allreduce", "UCC", "sliding_window", "one-sided: a schedule sends and receives"},
    {"allreduce", "UCC", "split_rail (CL/HIER)", "`circulant_optimal` relabelled sends as little through a port"},
    {"bcast", "Open MPI, MPICH, UCC", "scatter_allgather, scatter_recursive_doubling_allgather, sag_knomial",
     "`scatter_allgather` has the ring in its second half; no schedule has recursive doubling there"},
    {"bcast", "MPICH", "tsp_scatterv_recexch_allgatherv", "no schedule has a recursive exchange in its second half"},
    {"reduce_scatter(_block)", "Open MPI", "butterfly",
     "its volume and rounds are those of recursive_halving for powers of two, and `circulant_optimal` needs no powers "
     "of two"},
    {"reduce_scatter(_block)", "MPICH", "noncommutative",
     "for powers of two only; `circulant_ordered` and `recursive_doubling` serve operators that do not commute at "
     "every p"},
    {"reduce_scatter(_block), allgather(v)", "MPICH", "tsp_recexch, tsp_recexch_doubling, tsp_recexch_halving",
     "ranks are folded onto a power of the radix; `recursive_multiplying` folds fewer of them"},
    {"allgather(v)", "Open MPI, UCC", "sparbit", "in Open MPI after 4.1; same rounds and volume as bruck"},
    {"allgather(v), alltoall, barrier", "Open MPI", "two_proc", "every algorithm is one exchange for p = 2"},
    {"alltoall, gather", "Open MPI", "linear_sync",
     "throttles linear; dependencies of a schedule can throttle, no algorithm of its own"},
    {"alltoall(v)", "UCC", "onesided, hybrid", "one-sided; hybrid is Bruck's for short blocks and pairwise for others"},
    {"alltoall", "MPICH", "pairwise_sendrecv_replace",
     "pairwise for MPI_IN_PLACE, which a schedule needs no other steps for"},
    {"scan", "MPICH", "smp", "hierarchical scans have no schedule"},
    {"scatter", "Open MPI", "linear_nb", "a schedule is nonblocking throughout: it is `scatter/linear`"},
    {"gather, scatter", "MPICH", "tsp_tree", "k-nomial trees of blocks; `leaders` has them among nodes"},
    {"barrier", "Open MPI", "double_ring", "2p rounds; no size or p at which it is best"},
    {"bcast, reduce", "MPICH", "smp", "`leaders` has the circulant broadcast in both phases, and is not the same"},
    {"barrier", "MPICH", "smp", "hierarchical barriers have no schedule of their own"},
    {"bcast, reduce, allgather(v)", "MPICH", "circ_graph",
     "after 4.0; the circulant algorithms here are of the same family"},
});

constexpr std::string_view last = R"(
The decision tree of Open MPI for allreduce is the policy `openmpi_fixed` ([rules](admin/rules.md)). The report's
estimate of what the MPI library would take uses the names above ([reports](user/reports.md)).
)";

}  // namespace

std::string peers_page() {
  std::string text(peers_introduction);
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) {
      if (a->peers.empty()) continue;
      std::string row = fmt::format("| {} | `{}` |", to_string(c), a->id(c));
      bool any = false;
      for (const Library library : all_libraries) {
        const auto names = a->names_in(library, c);
        any = any || !names.empty();
        row += names.empty() ? " - |" : fmt::format(" {} |", fmt::join(names, ", "));
      }
      if (any) text += row + "\n";
    }
  }
  text += "\nLeft out, and why:\n\n| collective | library | algorithm | reason |\n|---|---|---|---|\n";
  for (const LeftOutPeer& l : left_out_peers)
    text += fmt::format("| {} | {} | {} | {} |\n", l.collective, l.library, l.algorithm, l.reason);
  return text + std::string(last);
}

}  // namespace circoll::cli
