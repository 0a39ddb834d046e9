// Parameters inside the leaves of MPICH's trees.
#include <algorithm>
#include <array>

#include "foreign/mpich_names.hpp"

namespace circoll::foreign::mpich {
namespace {

constexpr std::array<Parameter, 1> radix{{{"k", "2"}}};
constexpr std::array<Parameter, 2> exchange{{{"k", "2"}, {"single_phase_recv", "0"}}};
constexpr std::array<Parameter, 3> bcast_tree{{{"tree_type", "kary"}, {"k", "2"}, {"chunk_size", "0"}}};
constexpr std::array<Parameter, 4> reduce_tree{
    {{"tree_type", "kary"}, {"k", "2"}, {"chunk_size", "0"}, {"buffer_per_child", "0"}}};
constexpr std::array<Parameter, 8> placed_reduce_tree{{{"tree_type", "kary"},
                                                       {"k", "2"},
                                                       {"chunk_size", "0"},
                                                       {"buffer_per_child", "0"},
                                                       {"topo_overhead", "200"},
                                                       {"topo_diff_groups", "2800"},
                                                       {"topo_diff_switches", "1900"},
                                                       {"topo_same_switches", "1600"}}};
constexpr std::array<Parameter, 1> chunks{{{"chunk_size", "0"}}};
constexpr std::array<Parameter, 2> two_radices{{{"scatterv_k", "2"}, {"allgatherv_k", "2"}}};

struct Entry {
  std::string_view name;
  std::span<const Parameter> parameters;
};

constexpr std::array<Entry, 17> entries{{
    {"MPIR_Allgather_intra_k_brucks", radix},
    {"MPIR_Allgather_intra_recexch_doubling", exchange},
    {"MPIR_Allgather_intra_recexch_halving", exchange},
    {"MPIR_Allreduce_intra_k_reduce_scatter_allgather", exchange},
    {"MPIR_Allreduce_intra_recexch", exchange},
    {"MPIR_Allreduce_intra_recursive_multiplying", radix},
    {"MPIR_Allreduce_intra_tree", reduce_tree},
    {"MPIR_Alltoall_intra_k_brucks", radix},
    {"MPIR_Barrier_intra_k_dissemination", radix},
    {"MPIR_Ibcast_intra_tsp_tree", bcast_tree},
    {"MPIR_Ibcast_intra_tsp_ring", chunks},
    {"MPIR_Ibcast_intra_tsp_scatterv_recexch_allgatherv", two_radices},
    {"MPIR_Iallreduce_intra_tsp_tree", reduce_tree},
    {"MPIR_Iallreduce_intra_tsp_recexch_single_buffer", radix},
    {"MPIR_Iallreduce_intra_tsp_recexch_multiple_buffer", radix},
    {"MPIR_Iallreduce_intra_tsp_recexch_reduce_scatter_recexch_allgatherv", radix},
    {"MPIR_Ireduce_intra_tsp_tree", reduce_tree},
}};

// The leaf has no key for what these take, or the key is stored elsewhere.
constexpr std::array<std::string_view, 22> without_keys{
    "MPIR_Allreduce_intra_ccl",
    "MPIR_Barrier_intra_recexch",
    "MPIR_Bcast_intra_pipelined_tree",
    "MPIR_Bcast_intra_tree",
    "MPIR_Iallgather_intra_tsp_brucks",
    "MPIR_Iallgather_intra_tsp_recexch_doubling",
    "MPIR_Iallgather_intra_tsp_recexch_halving",
    "MPIR_Iallgatherv_intra_tsp_brucks",
    "MPIR_Iallgatherv_intra_tsp_recexch_doubling",
    "MPIR_Iallgatherv_intra_tsp_recexch_halving",
    "MPIR_Ialltoall_intra_tsp_brucks",
    "MPIR_Ialltoall_intra_tsp_scattered",
    "MPIR_Ialltoallv_intra_tsp_blocked",
    "MPIR_Ialltoallv_intra_tsp_scattered",
    "MPIR_Ialltoallw_intra_tsp_blocked",
    "MPIR_Ibarrier_intra_tsp_k_dissemination",
    "MPIR_Ibarrier_intra_tsp_recexch",
    "MPIR_Igather_intra_tsp_tree",
    "MPIR_Ireduce_intra_tsp_ring",
    "MPIR_Ireduce_scatter_block_intra_tsp_recexch",
    "MPIR_Ireduce_scatter_intra_tsp_recexch",
    "MPIR_Iscatter_intra_tsp_tree",
};

}  // namespace

std::span<const Parameter> parameters_of(std::string_view full_name, Version version) {
  const auto* const found = std::ranges::find_if(entries, [&](const Entry& entry) { return entry.name == full_name; });
  if (found == entries.end() || !is_known(full_name, version)) return {};
  const bool reduces = found->parameters.size() == reduce_tree.size();
  const bool placed = version >= Version::v5_0 && reduces && !full_name.starts_with("MPIR_Iallreduce");
  return placed ? std::span<const Parameter>(placed_reduce_tree) : found->parameters;
}

std::string unsettable(std::string_view full_name, Version version) {
  if (std::ranges::find(without_keys, full_name) != without_keys.end())
    return "a leaf cannot give it its parameters, which stay whatever memory held";
  const auto parameters = parameters_of(full_name, version);
  const bool trees = !parameters.empty() && parameters.front().name == "tree_type";
  if (trees && (version == Version::v4_2 || version == Version::v4_3))
    return "tree_type is a number in some releases of MPICH " + std::string(to_string(version)) +
           " and a word in others";
  return "";
}

bool numbered_trees(Version version) { return version <= Version::v4_1; }

std::string_view knomial_tree(Version version) { return numbered_trees(version) ? "2" : "knomial_2"; }

}  // namespace circoll::foreign::mpich
