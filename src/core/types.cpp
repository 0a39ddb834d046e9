#include "circoll/types.hpp"

#include <utility>

namespace circoll {
namespace {

constexpr std::array<std::string_view, all_collectives.size()> collective_names{
    "allreduce",      "reduce",    "reduce_scatter_block",
    "reduce_scatter", "allgather", "allgatherv",
    "gather",         "gatherv",   "scatter",
    "scatterv",       "bcast",     "barrier",
    "alltoall",       "alltoallv", "scan",
    "exscan"};

struct TypeRow {
  std::string_view name;
  std::size_t extent;
};

template <typename Value>
struct Pair {
  Value value;
  int index;
};

constexpr std::array<TypeRow, type_count> types{{
    {"byte", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"float32", 4},
    {"float64", 8},
    {"long_double", sizeof(long double)},
    {"complex64", 8},
    {"complex128", 16},
    {"complex_long_double", 2 * sizeof(long double)},
    {"bool", sizeof(bool)},
    {"float_int", sizeof(Pair<float>)},
    {"double_int", sizeof(Pair<double>)},
    {"long_int", sizeof(Pair<long>)},
    {"2int", sizeof(Pair<int>)},
    {"short_int", sizeof(Pair<short>)},
    {"long_double_int", sizeof(Pair<long double>)},
    {"2real", 2 * sizeof(float)},
    {"2double", 2 * sizeof(double)},
    {"logical", 4},
}};

constexpr std::array<std::string_view, op_count> op_names{
    "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", "minloc", "maxloc", "replace", "no_op"};

template <typename Enum, std::size_t n>
std::optional<Enum> find(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Collective collective) { return collective_names[static_cast<std::size_t>(collective)]; }
std::optional<Collective> collective_from_string(std::string_view name) {
  return find<Collective>(collective_names, name);
}

bool is_rooted(Collective collective) {
  switch (collective) {
    case Collective::reduce:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
    case Collective::bcast:
      return true;
    default:
      return false;
  }
}

bool is_reducing(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
    case Collective::scan:
    case Collective::exscan:
      return true;
    default:
      return false;
  }
}

bool is_prefix(Collective collective) { return collective == Collective::scan || collective == Collective::exscan; }

bool is_exchange(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::alltoallv;
}

bool is_irregular(Collective collective) {
  switch (collective) {
    case Collective::reduce_scatter:
    case Collective::allgatherv:
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      return true;
    default:
      return false;
  }
}

std::string_view to_string(Type type) { return types[static_cast<std::size_t>(type)].name; }
std::string_view to_string(Op op) { return op_names[static_cast<std::size_t>(op)]; }

std::optional<Type> type_from_string(std::string_view name) {
  for (std::size_t i = 0; i < type_count; ++i) {
    if (types[i].name == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}
std::optional<Op> op_from_string(std::string_view name) { return find<Op>(op_names, name); }

std::size_t extent_bytes(Type type) { return types[static_cast<std::size_t>(type)].extent; }

}  // namespace circoll
