// Facts of Intel MPI's variables I_MPI_ADJUST_*.
#include "foreign/intelmpi.hpp"

#include <algorithm>

#include "circoll/collectives.hpp"

namespace circoll::foreign::intelmpi {
namespace {

constexpr Preset allreduce[] = {{.name = "recursive_doubling"},
                                {.name = "rabenseifner", .commutative_only = true},
                                {.name = "reduce_bcast"},
                                {.name = "topology_reduce_bcast"},
                                {.name = "binomial_gather_scatter"},
                                {.name = "topology_binomial_gather_scatter"},
                                {.name = "shumilin_ring", .commutative_only = true},
                                {.name = "ring", .commutative_only = true},
                                {.name = "knomial", .commutative_only = true}};
constexpr Preset reduce[] = {{.name = "shumilin", .commutative_only = true},
                             {.name = "binomial"},
                             {.name = "topology_shumilin", .commutative_only = true},
                             {.name = "topology_binomial", .commutative_only = true},
                             {.name = "rabenseifner", .commutative_only = true},
                             {.name = "topology_rabenseifner", .commutative_only = true},
                             {.name = "knomial", .commutative_only = true}};
constexpr Preset reduce_scatter[] = {{.name = "recursive_halving", .commutative_only = true},
                                     {.name = "pairwise", .commutative_only = true},
                                     {.name = "recursive_doubling"},
                                     {.name = "reduce_scatterv"},
                                     {.name = "topology_reduce_scatterv"}};
constexpr Preset allgather[] = {{.name = "recursive_doubling"},
                                {.name = "bruck"},
                                {.name = "ring"},
                                {.name = "topology_gatherv_bcast"},
                                {.name = "knomial"}};
constexpr Preset allgatherv[] = {
    {.name = "recursive_doubling"}, {.name = "bruck"}, {.name = "ring"}, {.name = "topology_gatherv_bcast"}};
constexpr Preset alltoall[] = {{.name = "bruck"}, {.name = "isend_irecv"}, {.name = "pairwise"}, {.name = "plum"}};
constexpr Preset alltoallv[] = {{.name = "isend_irecv"}, {.name = "plum"}};
constexpr Preset barrier[] = {{.name = "dissemination"},           {.name = "recursive_doubling"},
                              {.name = "topology_dissemination"},  {.name = "topology_recursive_doubling"},
                              {.name = "binomial_gather_scatter"}, {.name = "topology_binomial_gather_scatter"}};
constexpr Preset bcast[] = {
    {.name = "binomial"},          {.name = "recursive_doubling"},          {.name = "ring"},
    {.name = "topology_binomial"}, {.name = "topology_recursive_doubling"}, {.name = "topology_ring"},
    {.name = "shumilin"}};
constexpr Preset trees[] = {{.name = "binomial"}, {.name = "topology_binomial"}, {.name = "shumilin"}};
constexpr Preset linears[] = {{.name = "linear"}, {.name = "topology_linear"}};
constexpr Preset prefixes[] = {{.name = "partial_results"}, {.name = "topology_partial_results"}};

}  // namespace

std::span<const Preset> presets_of(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return allreduce;
    case Collective::reduce:
      return reduce;
    case Collective::reduce_scatter:
      return reduce_scatter;
    case Collective::allgather:
      return allgather;
    case Collective::allgatherv:
      return allgatherv;
    case Collective::alltoall:
      return alltoall;
    case Collective::alltoallv:
      return alltoallv;
    case Collective::barrier:
      return barrier;
    case Collective::bcast:
      return bcast;
    case Collective::gather:
    case Collective::scatter:
      return trees;
    case Collective::gatherv:
    case Collective::scatterv:
      return linears;
    case Collective::scan:
    case Collective::exscan:
      return prefixes;
    case Collective::reduce_scatter_block:
      break;
  }
  return {};
}

std::string variable_of(Collective collective) {
  if (presets_of(collective).empty()) return "";
  std::string name = "I_MPI_ADJUST_";
  for (const char c : to_string(collective)) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

int number_of(Collective collective, std::string_view name) {
  const auto presets = presets_of(collective);
  const auto found =
      std::find_if(presets.begin(), presets.end(), [&](const Preset& preset) { return preset.name == name; });
  return found == presets.end() ? 0 : static_cast<int>(found - presets.begin()) + 1;
}

bool sizes_tell(Collective collective) { return size_decides(collective); }

bool counts_blocks(Collective collective) {
  return collective == Collective::allgather || collective == Collective::alltoall ||
         collective == Collective::gather || collective == Collective::scatter;
}

}  // namespace circoll::foreign::intelmpi

namespace circoll::foreign {

std::vector<std::string_view> intelmpi_names(Collective collective, const Reader& /*reader*/) {
  std::vector<std::string_view> all;
  for (const intelmpi::Preset& preset : intelmpi::presets_of(collective)) all.push_back(preset.name);
  return all;
}

}  // namespace circoll::foreign
