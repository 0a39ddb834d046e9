// Names of algorithms by version, as they stand in the sources of the releases.
#include "foreign/mpich_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace circoll::foreign::mpich {
namespace {

/// Names of versions, without MPIR_, between blanks.
struct Names {
  Version from;
  Version to;
  std::string_view text;
};

constexpr std::array<Names, 6> all_names{{
    {Version::v4_0, Version::v5_0,
     "Allgather_allcomm_nb Allgather_inter_local_gather_remote_bcast Allgather_intra_brucks "
     "Allgather_intra_recursive_doubling Allgather_intra_ring Allgatherv_allcomm_nb "
     "Allgatherv_inter_remote_gather_local_bcast Allgatherv_intra_brucks Allgatherv_intra_recursive_doubling "
     "Allgatherv_intra_ring Allreduce_allcomm_nb Allreduce_inter_reduce_exchange_bcast "
     "Allreduce_intra_recursive_doubling Allreduce_intra_reduce_scatter_allgather Allreduce_intra_smp "
     "Alltoall_allcomm_nb Alltoall_inter_pairwise_exchange Alltoall_intra_brucks Alltoall_intra_pairwise "
     "Alltoall_intra_pairwise_sendrecv_replace Alltoall_intra_scattered Alltoallv_allcomm_nb "
     "Alltoallv_inter_pairwise_exchange Alltoallv_intra_pairwise_sendrecv_replace Alltoallv_intra_scattered "
     "Alltoallw_allcomm_nb Alltoallw_inter_pairwise_exchange Alltoallw_intra_pairwise_sendrecv_replace "
     "Alltoallw_intra_scattered Barrier_allcomm_nb Barrier_inter_bcast Barrier_intra_smp Bcast_allcomm_nb "
     "Bcast_inter_remote_send_local_bcast Bcast_intra_binomial Bcast_intra_scatter_recursive_doubling_allgather "
     "Bcast_intra_scatter_ring_allgather Bcast_intra_smp Exscan_allcomm_nb Exscan_intra_recursive_doubling "
     "Gather_allcomm_nb Gather_inter_linear Gather_inter_local_gather_remote_send Gather_intra_binomial "
     "Gatherv_allcomm_linear Gatherv_allcomm_nb Iallgather_inter_sched_local_gather_remote_bcast "
     "Iallgather_intra_sched_brucks Iallgather_intra_sched_recursive_doubling Iallgather_intra_sched_ring "
     "Iallgather_intra_tsp_brucks Iallgather_intra_tsp_recexch_doubling Iallgather_intra_tsp_recexch_halving "
     "Iallgather_intra_tsp_ring Iallgatherv_inter_sched_remote_gather_local_bcast Iallgatherv_intra_sched_brucks "
     "Iallgatherv_intra_sched_recursive_doubling Iallgatherv_intra_sched_ring Iallgatherv_intra_tsp_brucks "
     "Iallgatherv_intra_tsp_recexch_doubling Iallgatherv_intra_tsp_recexch_halving Iallgatherv_intra_tsp_ring "
     "Iallreduce_inter_sched_remote_reduce_local_bcast Iallreduce_intra_sched_naive "
     "Iallreduce_intra_sched_recursive_doubling Iallreduce_intra_sched_reduce_scatter_allgather "
     "Iallreduce_intra_sched_smp Iallreduce_intra_tsp_recexch_multiple_buffer "
     "Iallreduce_intra_tsp_recexch_reduce_scatter_recexch_allgatherv Iallreduce_intra_tsp_recexch_single_buffer "
     "Iallreduce_intra_tsp_ring Iallreduce_intra_tsp_tree Ialltoall_inter_sched_pairwise_exchange "
     "Ialltoall_intra_sched_brucks Ialltoall_intra_sched_inplace Ialltoall_intra_sched_pairwise "
     "Ialltoall_intra_sched_permuted_sendrecv Ialltoall_intra_tsp_brucks Ialltoall_intra_tsp_ring "
     "Ialltoall_intra_tsp_scattered Ialltoallv_inter_sched_pairwise_exchange Ialltoallv_intra_sched_blocked "
     "Ialltoallv_intra_sched_inplace Ialltoallv_intra_tsp_blocked Ialltoallv_intra_tsp_inplace "
     "Ialltoallv_intra_tsp_scattered Ialltoallw_inter_sched_pairwise_exchange Ialltoallw_intra_sched_blocked "
     "Ialltoallw_intra_sched_inplace Ialltoallw_intra_tsp_blocked Ialltoallw_intra_tsp_inplace "
     "Ibarrier_inter_sched_bcast Ibarrier_intra_sched_recursive_doubling Ibarrier_intra_tsp_recexch "
     "Ibcast_inter_sched_flat Ibcast_intra_sched_binomial Ibcast_intra_sched_scatter_recursive_doubling_allgather "
     "Ibcast_intra_sched_scatter_ring_allgather Ibcast_intra_sched_smp Ibcast_intra_tsp_ring "
     "Ibcast_intra_tsp_scatterv_recexch_allgatherv Ibcast_intra_tsp_tree Iexscan_intra_sched_recursive_doubling "
     "Igather_inter_sched_long Igather_inter_sched_short Igather_intra_sched_binomial Igather_intra_tsp_tree "
     "Igatherv_allcomm_sched_linear Igatherv_allcomm_tsp_linear Ineighbor_allgather_allcomm_sched_linear "
     "Ineighbor_allgather_allcomm_tsp_linear Ineighbor_allgatherv_allcomm_sched_linear "
     "Ineighbor_allgatherv_allcomm_tsp_linear Ineighbor_alltoall_allcomm_sched_linear "
     "Ineighbor_alltoall_allcomm_tsp_linear Ineighbor_alltoallv_allcomm_sched_linear "
     "Ineighbor_alltoallv_allcomm_tsp_linear Ineighbor_alltoallw_allcomm_sched_linear "
     "Ineighbor_alltoallw_allcomm_tsp_linear Ireduce_inter_sched_local_reduce_remote_send "
     "Ireduce_intra_sched_binomial Ireduce_intra_sched_reduce_scatter_gather Ireduce_intra_sched_smp "
     "Ireduce_intra_tsp_ring Ireduce_intra_tsp_tree Ireduce_scatter_block_inter_sched_remote_reduce_local_scatterv "
     "Ireduce_scatter_block_intra_sched_noncommutative Ireduce_scatter_block_intra_sched_pairwise "
     "Ireduce_scatter_block_intra_sched_recursive_doubling Ireduce_scatter_block_intra_sched_recursive_halving "
     "Ireduce_scatter_block_intra_tsp_recexch Ireduce_scatter_inter_sched_remote_reduce_local_scatterv "
     "Ireduce_scatter_intra_sched_noncommutative Ireduce_scatter_intra_sched_pairwise "
     "Ireduce_scatter_intra_sched_recursive_doubling Ireduce_scatter_intra_sched_recursive_halving "
     "Ireduce_scatter_intra_tsp_recexch Iscan_intra_sched_recursive_doubling Iscan_intra_sched_smp "
     "Iscan_intra_tsp_recursive_doubling Iscatter_inter_sched_linear "
     "Iscatter_inter_sched_remote_send_local_scatter Iscatter_intra_sched_binomial Iscatter_intra_tsp_tree "
     "Iscatterv_allcomm_sched_linear Iscatterv_allcomm_tsp_linear Neighbor_allgather_allcomm_nb "
     "Neighbor_allgatherv_allcomm_nb Neighbor_alltoall_allcomm_nb Neighbor_alltoallv_allcomm_nb "
     "Neighbor_alltoallw_allcomm_nb Reduce_allcomm_nb Reduce_inter_local_reduce_remote_send Reduce_intra_binomial "
     "Reduce_intra_reduce_scatter_gather Reduce_intra_smp Reduce_scatter_allcomm_nb "
     "Reduce_scatter_block_allcomm_nb Reduce_scatter_block_inter_remote_reduce_local_scatter "
     "Reduce_scatter_block_intra_noncommutative Reduce_scatter_block_intra_pairwise "
     "Reduce_scatter_block_intra_recursive_doubling Reduce_scatter_block_intra_recursive_halving "
     "Reduce_scatter_inter_remote_reduce_local_scatter Reduce_scatter_intra_noncommutative "
     "Reduce_scatter_intra_pairwise Reduce_scatter_intra_recursive_doubling Reduce_scatter_intra_recursive_halving "
     "Scan_allcomm_nb Scan_intra_recursive_doubling Scan_intra_smp Scatter_allcomm_nb Scatter_inter_linear "
     "Scatter_inter_remote_send_local_scatter Scatter_intra_binomial Scatterv_allcomm_linear Scatterv_allcomm_nb "},
    {Version::v4_0, Version::v4_0, "Barrier_intra_dissemination"},
    {Version::v4_1, Version::v5_0,
     "Allgather_intra_k_brucks Allreduce_intra_k_reduce_scatter_allgather Allreduce_intra_recexch Allreduce_intra_ring "
     "Allreduce_intra_tree Alltoall_intra_k_brucks Barrier_intra_k_dissemination Barrier_intra_recexch "
     "Bcast_intra_pipelined_tree Bcast_intra_tree Ibarrier_intra_tsp_k_dissemination "
     "Ibcast_intra_tsp_scatterv_ring_allgatherv"},
    {Version::v4_2, Version::v5_0, "Allgather_intra_recexch_doubling Allgather_intra_recexch_halving"},
    {Version::v4_3, Version::v5_0, "Allreduce_intra_recursive_multiplying"},
    {Version::v5_0, Version::v5_0, "Allreduce_intra_ccl"},
}};

constexpr std::string_view collectives =
    "bcast allreduce allgather allgatherv reduce reduce_scatter reduce_scatter_block gather scatter gatherv "
    "scatterv scan exscan barrier alltoall alltoallv alltoallw neighbor_allgather neighbor_allgatherv "
    "neighbor_alltoall neighbor_alltoallv neighbor_alltoallw ibarrier iallreduce iallgather iallgatherv ibcast "
    "ireduce ireduce_scatter igather iscatter igatherv iscatterv iexscan ialltoall ialltoallv ialltoallw "
    "ireduce_scatter_block iscan ineighbor_allgather ineighbor_allgatherv ineighbor_alltoall ineighbor_alltoallv "
    "ineighbor_alltoallw";

constexpr std::string_view prefix = "MPIR_";
// The parts of names between the collective and the algorithm.
constexpr std::array<std::string_view, 3> kinds{"_intra_", "_inter_", "_allcomm_"};

/// A name in three parts: "MPIR_Bcast", "_intra_", "binomial".
struct Parts {
  std::string_view collective{};
  std::string_view kind{};
  std::string_view algorithm{};
};

Parts parts_of(std::string_view full_name) {
  if (!full_name.starts_with(prefix)) return {};
  for (const std::string_view kind : kinds) {
    const std::size_t at = full_name.find(kind);
    if (at == std::string_view::npos) continue;
    return {full_name.substr(prefix.size(), at - prefix.size()), kind, full_name.substr(at + kind.size())};
  }
  return {};
}

/// Appends the words between blanks.
void add_words(std::string_view text, std::vector<std::string_view>& words) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

/// The names of a version, without MPIR_, in the order of all_names.
std::vector<std::string_view> words_of(Version version) {
  std::vector<std::string_view> words;
  for (const Names& names : all_names) {
    if (names.from <= version && version <= names.to) add_words(names.text, words);
  }
  return words;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::optional<Version> version_of(std::string_view reader_id) {
  for (const Version version : {Version::v4_0, Version::v4_1, Version::v4_2, Version::v4_3, Version::v5_0}) {
    if (reader_id.starts_with("mpich-") && reader_id.substr(6) == to_string(version)) return version;
  }
  return std::nullopt;
}

std::string_view to_string(Version version) {
  constexpr std::array<std::string_view, 5> names{"4.0", "4.1", "4.2", "4.3", "5.0"};
  return names.at(static_cast<std::size_t>(version));
}

std::span<const std::string_view> tree_collectives() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> words;
    add_words(collectives, words);
    return words;
  }();
  return all;
}

bool is_known(std::string_view full_name, Version version) {
  static const auto known = [] {
    std::array<std::set<std::string_view>, 5> sets;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const std::string_view word : words_of(static_cast<Version>(i))) sets.at(i).insert(word);
    }
    return sets;
  }();
  return full_name.starts_with(prefix) &&
         known.at(static_cast<std::size_t>(version)).contains(full_name.substr(prefix.size()));
}

std::string short_name(std::string_view full_name) {
  const Parts parts = parts_of(full_name);
  return std::string(parts.algorithm.empty() ? full_name : parts.algorithm);
}

std::string collective_of(std::string_view full_name) {
  std::string name(parts_of(full_name).collective);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string start_of(std::string_view collective) {
  std::string name = std::string(prefix) + std::string(collective);
  char& first = name[prefix.size()];
  first = static_cast<char>(std::toupper(static_cast<unsigned char>(first)));
  return name;
}

std::string variable_part(Collective collective) {
  std::string name(circoll::to_string(collective));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::optional<Leaves> leaves_of(Collective collective, std::string_view name, Version version) {
  const std::string lower(circoll::to_string(collective));
  const std::string start = start_of(lower);
  for (const std::string_view kind : {"_intra_", "_allcomm_"}) {
    const std::string full = start + std::string(kind) + std::string(name);
    if (name != "nb" && is_known(full, version)) return Leaves{full, {}};
    const std::string nonblocking = std::string(prefix) + "I" + lower + std::string(kind) + std::string(name);
    if (is_known(nonblocking, version)) return Leaves{start + "_allcomm_nb", nonblocking};
  }
  // The same algorithm, whose radix has become a parameter; parameters_of has 2 for it.
  if (collective == Collective::barrier && name == "dissemination" && version >= Version::v4_1)
    return Leaves{start + "_intra_k_dissemination", {}};
  return std::nullopt;
}

std::vector<std::string_view> names_of(Collective collective, Version version) {
  std::vector<std::string_view> result;
  const std::string lower(circoll::to_string(collective));
  for (const std::string_view word : words_of(version)) {
    const std::string full = std::string(prefix) + std::string(word);
    const Parts parts = parts_of(full);
    const std::string owner = collective_of(full);
    if ((owner == lower || owner == "i" + lower) && parts.kind != "_inter_" && parts.algorithm != "nb")
      result.push_back(word.substr(word.size() - parts.algorithm.size()));
  }
  return result;
}

Needs needs_of(std::string_view full_name) {
  const Parts parts = parts_of(full_name);
  const std::string owner = collective_of(full_name);
  if (parts.kind != "_intra_") return {};
  // The I of nonblocking ones; no other collective begins with it.
  const std::string_view collective = owner.starts_with('i') ? std::string_view(owner).substr(1) : owner;
  std::string_view name = parts.algorithm;
  if (name.starts_with("sched_")) name.remove_prefix(6);
  const bool tsp = name.starts_with("tsp_");
  if (tsp) name.remove_prefix(4);

  Needs needs;
  if (name == "smp") {
    needs.hierarchy = owner != "scan";
    needs.consecutive = owner == "scan";
    needs.commutative = collective == "allreduce" || collective == "reduce";
  } else if (collective == "allreduce" || collective == "reduce") {
    needs.commutative = name != "recursive_doubling" && name != "naive" && name != "binomial";
    // Trees that test is_commutative alone for these two end programs that have operators of their own.
    needs.built_in =
        name == "reduce_scatter_allgather" || name == "reduce_scatter_gather" || name == "k_reduce_scatter_allgather";
    needs.count_for_each = name == "reduce_scatter_allgather" || name == "reduce_scatter_gather" ||
                           name == "k_reduce_scatter_allgather" || contains(name, "recexch_reduce_scatter");
  } else if (collective.starts_with("reduce_scatter")) {
    needs.commutative = name == "recursive_halving" || name == "pairwise" || tsp;
    needs.power_of_two = name == "noncommutative";
    needs.regular = name == "noncommutative" && collective == "reduce_scatter";
  } else if (collective.starts_with("allgather")) {
    needs.power_of_two = name == "recursive_doubling";
  } else if (collective == "bcast") {
    needs.power_of_two = name == "scatter_recursive_doubling_allgather";
  } else if (collective.starts_with("alltoall")) {
    needs.in_place = name == "pairwise_sendrecv_replace" || name == "inplace";
    needs.not_in_place = !needs.in_place;
  }
  return needs;
}

}  // namespace circoll::foreign::mpich
