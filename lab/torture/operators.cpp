// Operators: MPI's own, and user operators on pairs of words.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "types.hpp"

namespace circoll::torture {
namespace {

std::atomic<long> misused{0};

std::uint32_t load(const char* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(char* to, std::uint32_t value) { std::memcpy(to, &value, sizeof value); }

/// inout = in op inout on elements of any number of word pairs in this layout. `add`: sums of words. `compose`: affine
/// maps x -> a x + b modulo 2^32, associative and not commutative.
template <int layout, UserOp kind>
// NOLINTNEXTLINE(readability-non-const-parameter): it is an MPI_User_function
void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  const WordLayout& l = word_layout(layout);
  MPI_Aint lb = 0, extent = 0;
  if (PMPI_Type_get_extent(*type, &lb, &extent) != MPI_SUCCESS || lb != l.lb || extent % l.extent != 0) {
    ++misused;
    return;
  }
  const std::ptrdiff_t pairs = *count * (extent / l.extent);
  for (std::ptrdiff_t i = 0; i < pairs; ++i) {
    const char* const left = static_cast<const char*>(in) + i * l.extent;
    char* const right = static_cast<char*>(inout) + i * l.extent;
    const std::uint32_t a = load(left + l.first), b = load(left + l.second);
    const std::uint32_t c = load(right + l.first), d = load(right + l.second);
    store(right + l.first, kind == UserOp::add ? a + c : a * c);
    store(right + l.second, kind == UserOp::add ? b + d : a * d + b);
  }
}

template <UserOp kind, int... layouts>
constexpr std::array<MPI_User_function*, sizeof...(layouts)> functions(std::integer_sequence<int, layouts...>) {
  return {&combine<layouts, kind>...};
}

MPI_Op predefined(Op op) {
  const std::array<std::pair<Op, MPI_Op>, 12> all{{{Op::sum, MPI_SUM},
                                                   {Op::prod, MPI_PROD},
                                                   {Op::min, MPI_MIN},
                                                   {Op::max, MPI_MAX},
                                                   {Op::land, MPI_LAND},
                                                   {Op::lor, MPI_LOR},
                                                   {Op::lxor, MPI_LXOR},
                                                   {Op::band, MPI_BAND},
                                                   {Op::bor, MPI_BOR},
                                                   {Op::bxor, MPI_BXOR},
                                                   {Op::minloc, MPI_MINLOC},
                                                   {Op::maxloc, MPI_MAXLOC}}};
  const auto* const found = std::ranges::find(all, op, &std::pair<Op, MPI_Op>::first);
  return found == all.end() ? MPI_OP_NULL : found->second;
}

}  // namespace

Operator make_operator(const Operation& operation) {
  if (operation.user == UserOp::none) return {predefined(operation.op), false};
  constexpr auto all = std::make_integer_sequence<int, word_layouts>();
  const auto layout = static_cast<std::size_t>(operation.layout);
  MPI_User_function* const function =
      operation.user == UserOp::add ? functions<UserOp::add>(all)[layout] : functions<UserOp::compose>(all)[layout];
  MPI_Op made = MPI_OP_NULL;
  const bool owned = MPI_Op_create(function, commutes(operation) ? 1 : 0, &made) == MPI_SUCCESS;
  return {made, owned};
}

bool commutes(const Operation& operation) {
  return operation.user == UserOp::none || (operation.user == UserOp::add && operation.declared_commutative);
}

long misused_operators() { return misused; }

}  // namespace circoll::torture
