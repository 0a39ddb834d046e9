#include "circoll/types.hpp"

#include <algorithm>
#include <array>

namespace circoll {
namespace {

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

}  // namespace

std::string_view to_string(Type type) { return types[static_cast<std::size_t>(type)].name; }
std::string_view to_string(Op op) { return op_names[static_cast<std::size_t>(op)]; }

std::optional<Type> type_from_string(std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypeRow::name);
  if (found == types.end()) return std::nullopt;
  return static_cast<Type>(found - types.begin());
}

std::optional<Op> op_from_string(std::string_view name) {
  const auto found = std::ranges::find(op_names, name);
  if (found == op_names.end()) return std::nullopt;
  return static_cast<Op>(found - op_names.begin());
}

std::size_t extent_bytes(Type type) { return types[static_cast<std::size_t>(type)].extent; }

}  // namespace circoll
