// Facts of Open MPI's component coll/tuned, of 4.1.4, 5.0 and 6.0.
#include "foreign/openmpi.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "circoll/collectives.hpp"

namespace circoll::foreign::openmpi {
namespace {

constexpr KnownAlgorithm allreduce[] = {{.name = "basic_linear"},
                                        {.name = "nonoverlapping"},
                                        {.name = "recursive_doubling"},
                                        {.name = "ring", .commutative_only = true},
                                        {.name = "segmented_ring", .commutative_only = true, .segments = true},
                                        {.name = "rabenseifner"},
                                        {.name = "allgather_reduce", .since = Version::v60}};
constexpr KnownAlgorithm reduce[] = {
    {.name = "linear"},
    {.name = "chain", .commutative_only = true, .segments = true, .fanout = true},
    {.name = "pipeline", .commutative_only = true, .segments = true},
    {.name = "binary", .commutative_only = true, .segments = true},
    {.name = "binomial", .commutative_only = true, .segments = true},
    {.name = "in-order_binary", .segments = true},
    {.name = "rabenseifner"},
    {.name = "knomial", .since = Version::v60, .commutative_only = true, .segments = true}};
constexpr KnownAlgorithm reduce_scatter_block[] = {
    {.name = "basic_linear"}, {.name = "recursive_doubling"}, {.name = "recursive_halving"}, {.name = "butterfly"}};
constexpr KnownAlgorithm reduce_scatter[] = {{.name = "non-overlapping"},
                                             {.name = "recursive_halving", .commutative_only = true},
                                             {.name = "ring", .commutative_only = true},
                                             {.name = "butterfly"}};
constexpr KnownAlgorithm allgather[] = {{.name = "linear"},
                                        {.name = "bruck", .newer = "bruck-k-fanout"},
                                        {.name = "recursive_doubling"},
                                        {.name = "ring"},
                                        {.name = "neighbor"},
                                        {.name = "two_proc", .two_ranks_only = true},
                                        {.name = "sparbit", .since = Version::v50},
                                        {.name = "direct-messaging", .since = Version::v60}};
constexpr KnownAlgorithm allgatherv[] = {{.name = "default"},
                                         {.name = "bruck"},
                                         {.name = "ring"},
                                         {.name = "neighbor"},
                                         {.name = "two_proc", .two_ranks_only = true},
                                         {.name = "sparbit", .since = Version::v50}};
constexpr KnownAlgorithm gather[] = {
    {.name = "basic_linear"}, {.name = "binomial"}, {.name = "linear_sync", .segments = true}};
constexpr KnownAlgorithm scatter[] = {{.name = "basic_linear"}, {.name = "binomial"}, {.name = "linear_nb"}};
constexpr KnownAlgorithm bcast[] = {{.name = "basic_linear"},
                                    {.name = "chain", .segments = true, .fanout = true},
                                    {.name = "pipeline", .segments = true},
                                    {.name = "split_binary_tree", .segments = true},
                                    {.name = "binary_tree", .segments = true},
                                    {.name = "binomial", .segments = true},
                                    {.name = "knomial", .segments = true},
                                    {.name = "scatter_allgather"},
                                    {.name = "scatter_allgather_ring"}};
constexpr KnownAlgorithm barrier[] = {{.name = "linear"},
                                      {.name = "double_ring"},
                                      {.name = "recursive_doubling"},
                                      {.name = "bruck"},
                                      {.name = "two_proc", .two_ranks_only = true},
                                      {.name = "tree"}};
constexpr KnownAlgorithm alltoall[] = {{.name = "linear"},
                                       {.name = "pairwise"},
                                       {.name = "modified_bruck"},
                                       {.name = "linear_sync"},
                                       {.name = "two_proc", .two_ranks_only = true}};
constexpr KnownAlgorithm alltoallv[] = {{.name = "basic_linear"}, {.name = "pairwise"}};
constexpr KnownAlgorithm prefixes[] = {{.name = "linear"}, {.name = "recursive_doubling"}};

/// A collective of coll/tuned: its number in classic files, and its algorithms.
struct Tuned {
  Collective collective;
  int id;
  std::span<const KnownAlgorithm> algorithms;
};
constexpr std::array tuned{Tuned{Collective::allgather, 0, allgather},
                           Tuned{Collective::allgatherv, 1, allgatherv},
                           Tuned{Collective::allreduce, 2, allreduce},
                           Tuned{Collective::alltoall, 3, alltoall},
                           Tuned{Collective::alltoallv, 4, alltoallv},
                           Tuned{Collective::barrier, 6, barrier},
                           Tuned{Collective::bcast, 7, bcast},
                           Tuned{Collective::exscan, 8, prefixes},
                           Tuned{Collective::gather, 9, gather},
                           Tuned{Collective::reduce, 11, reduce},
                           Tuned{Collective::reduce_scatter, 12, reduce_scatter},
                           Tuned{Collective::reduce_scatter_block, 13, reduce_scatter_block},
                           Tuned{Collective::scan, 14, prefixes},
                           Tuned{Collective::scatter, 15, scatter}};

const Tuned* tuned_of(Collective collective) {
  const auto* const found = std::ranges::find(tuned, collective, &Tuned::collective);
  return found == tuned.end() ? nullptr : found;
}

bool counts_type_only(Collective collective, Version version) {
  if (is_prefix(collective)) return true;
  return version != Version::v60 && (collective == Collective::gather || collective == Collective::scatter);
}

/// A sentence if HAN serves the call before coll/tuned sees it; empty if not.
std::string han_note(const Call& call, Version version) {
  if (call.nodes < 2 || !han_takes(call.collective, version)) return "";
  return "on several nodes HAN (priority 35) serves it before coll/tuned (30) sees it, unless coll_han_priority is 0";
}

/// Sentences about the fate of a call that a rule gives to an algorithm: substitutes, errors, differing ranks.
std::vector<std::string> notes_of(const Call& call, const KnownAlgorithm& algorithm, Version version) {
  std::vector<std::string> notes;
  const Collective collective = call.collective;
  const Count count = call.element_bytes > 0 ? call.bytes / call.element_bytes : call.bytes;
  const auto power = static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(std::max<Rank>(call.ranks, 1))));
  const bool uncommuting = is_reducing(collective) && !call.commutative;
  const auto note_if = [&](bool holds, const char* text) {
    if (holds) notes.emplace_back(text);
  };
  note_if(algorithm.two_ranks_only && call.ranks != 2, "the call fails: two_proc is for two ranks");
  note_if(algorithm.commutative_only && uncommuting,
          "wrong results: it reorders operands, and the operator does not commute");
  const bool rabenseifner = algorithm.name == "rabenseifner";
  note_if(rabenseifner && uncommuting, "replaced by a linear one: the operator does not commute");
  note_if(
      rabenseifner && !uncommuting && count < power && (version != Version::v60 || collective == Collective::reduce),
      "replaced by a linear one: fewer elements than the power of two below the number of ranks");
  note_if(collective == Collective::reduce_scatter_block && algorithm.name == "recursive_halving" && uncommuting,
          "replaced by basic_linear: the operator does not commute");
  note_if(collective == Collective::allreduce && (algorithm.name == "ring" || algorithm.name == "segmented_ring") &&
              count < call.ranks,
          "replaced by recursive_doubling: fewer elements than ranks");
  note_if(algorithm.name == "nonoverlapping" || algorithm.name == "non-overlapping",
          "it is made of the library's reduce and another call, which follow the rules for these in this file");
  note_if(collective == Collective::bcast && algorithm.name == "scatter_allgather" && count < call.ranks,
          "replaced by basic_linear: fewer elements than ranks");
  note_if(collective == Collective::allgather && algorithm.name == "recursive_doubling" && call.ranks != power,
          "replaced by bruck: the number of ranks is no power of two");
  note_if(is_allgather(collective) && algorithm.name == "neighbor" && call.ranks % 2 != 0,
          "replaced by ring: the number of ranks is odd");
  if (counts_type_only(collective, version)) {
    notes.emplace_back("looked up by the size of an element times the ranks, " +
                       std::to_string(looked_up_bytes(call, version)) + " bytes, whatever the count");
  }
  note_if(version == Version::v60 && (collective == Collective::gather || collective == Collective::scatter),
          "looked up by the send arguments of each rank, which need not be the same on all: one rule for all sizes is "
          "safe");
  note_if(call.in_place && (is_allgather(collective) || collective == Collective::alltoall),
          "in place, looked up by the send arguments that the program gives, which MPI ignores");
  if (const std::string han = han_note(call, version); !han.empty()) notes.push_back(han);
  return notes;
}

}  // namespace

Version version_of(const Reader& reader) {
  if (reader.id == "openmpi-4.1") return Version::v41;
  return reader.id == "openmpi-5.0" ? Version::v50 : Version::v60;
}

std::span<const KnownAlgorithm> algorithms_in(Collective collective) {
  const Tuned* const found = tuned_of(collective);
  return found == nullptr ? std::span<const KnownAlgorithm>{} : found->algorithms;
}

const KnownAlgorithm* algorithm_of(Collective collective, std::int64_t number, Version version) {
  const auto known = algorithms_in(collective);
  if (number < 1 || number > static_cast<std::int64_t>(known.size())) return nullptr;
  const KnownAlgorithm& algorithm = known[static_cast<std::size_t>(number - 1)];
  return algorithm.since <= version ? &algorithm : nullptr;
}

int number_of(Collective collective, std::string_view name, Version version) {
  const auto known = algorithms_in(collective);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool same = known[i].name == name || (!known[i].newer.empty() && known[i].newer == name);
    if (same && known[i].since <= version) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::optional<int> id_of(Collective collective) {
  const Tuned* const found = tuned_of(collective);
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

std::optional<Collective> collective_of(std::int64_t id) {
  const auto* const found = std::ranges::find(tuned, id, &Tuned::id);
  return found == tuned.end() ? std::nullopt : std::optional(found->collective);
}

bool sizes_tell(Collective collective, Version version) {
  if (!size_decides(collective) || is_prefix(collective)) return false;
  if (collective == Collective::gather || collective == Collective::scatter) return false;
  return collective != Collective::allgatherv || version != Version::v60;
}

Count looked_up_bytes(const Call& call, Version version) {
  if (counts_type_only(call.collective, version)) return call.element_bytes * call.ranks;
  if (call.collective == Collective::allgatherv && version == Version::v60) return call.bytes / call.ranks;
  return Amounts::of_vector(call.collective, call.ranks, call.bytes).deciding_bytes();
}

bool han_takes(Collective collective, Version version) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allreduce:
    case Collective::barrier:
    case Collective::bcast:
    case Collective::gather:
    case Collective::reduce:
    case Collective::scatter:
      return version != Version::v41;
    case Collective::alltoall:
    case Collective::alltoallv:
      return version == Version::v60;
    default:
      return false;
  }
}

std::vector<Warning> warnings_of(Collective collective, std::int64_t number, std::int64_t segment_bytes,
                                 const Range& ranks, Version version, std::size_t line) {
  std::vector<Warning> warnings;
  if (number == 0) return warnings;
  const std::string of = " of " + std::string(to_string(collective));
  const KnownAlgorithm* const known = algorithm_of(collective, number, version);
  if (known == nullptr) {
    warnings.push_back({.line = line,
                        .text = "there is no algorithm " + std::to_string(number) + of +
                                ": calls that it is for fail with MPI_ERR_ARG"});
    return warnings;
  }
  const std::string name = std::string(known->name) + of;
  if (known->two_ranks_only && (ranks.from < 2 || ranks.to > 2)) {
    warnings.push_back(
        {.line = line, .text = name + " is for two ranks, and the rule serves others: their calls fail"});
  }
  if (known->commutative_only && is_reducing(collective)) {
    warnings.push_back(
        {.line = line, .text = name + " is wrong for operators that do not commute, which the library does not check"});
  }
  if (segment_bytes > 0 && !known->segments) {
    warnings.push_back({.line = line, .text = "the segment size is ignored: " + name + " has none", .grave = false});
  }
  return warnings;
}

std::string parameters_of(const KnownAlgorithm& algorithm, std::int64_t segment_bytes, std::int64_t fanout) {
  std::string text;
  if (algorithm.segments && segment_bytes > 0) text = "segment size " + std::to_string(segment_bytes);
  if (algorithm.fanout && fanout > 0) text += (text.empty() ? "fan-out " : ", fan-out ") + std::to_string(fanout);
  return text;
}

ForeignDecision verdict_of(const Call& call, std::int64_t number, Version version, std::string rule) {
  ForeignDecision verdict{.rule = std::move(rule)};
  if (number == 0) {
    verdict.notes.emplace_back("algorithm 0: the library's fixed rules decide");
    return verdict;
  }
  const KnownAlgorithm* const known = algorithm_of(call.collective, number, version);
  if (known == nullptr) {
    verdict.notes.push_back("the call fails with MPI_ERR_ARG: there is no algorithm " + std::to_string(number));
    return verdict;
  }
  verdict.algorithm = known->name;
  verdict.notes = notes_of(call, *known, version);
  return verdict;
}

}  // namespace circoll::foreign::openmpi

namespace circoll::foreign {

std::vector<std::string_view> openmpi_names(Collective collective, const Reader& reader) {
  std::vector<std::string_view> all;
  for (const openmpi::KnownAlgorithm& known : openmpi::algorithms_in(collective)) {
    if (known.since <= openmpi::version_of(reader)) all.push_back(known.name);
  }
  return all;
}

}  // namespace circoll::foreign
