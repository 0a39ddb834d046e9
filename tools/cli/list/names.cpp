// The names that commands, variables and files take: of collectives, element types, operators and policies.
#include "list/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "circoll/ops.hpp"
#include "circoll/types.hpp"
#include "facts/text.hpp"

namespace circoll::cli {
namespace {

struct NamedPolicy {
  std::string_view name;
  std::string_view about;
};

constexpr std::array policies{
    NamedPolicy{"auto", "this machine's profile if there is one (circoll tune --here), else model"},
    NamedPolicy{"model", "the least predicted time on a machine: the default one, or CIRCOLL_MACHINE, or --machine"},
    NamedPolicy{"classic", "a fixed choice among the algorithms of the literature before circulant graphs"},
    NamedPolicy{"openmpi_fixed", "what Open MPI 4.1 would take, by its fixed decision tree"},
    NamedPolicy{"native", "nothing: the MPI library's own collectives"},
    NamedPolicy{"file:PATH",
                "rules of a file (docs/admin/rules.md), as circoll tune and circoll guidelines write them"},
    NamedPolicy{"learn", "what is fastest while the program runs; CIRCOLL_POLICY only (docs/admin/tuning.md)"},
};

std::string_view kind_of(Type type) {
  switch (type) {
    case Type::byte:
      return "bytes";
    case Type::int8:
    case Type::int16:
    case Type::int32:
    case Type::int64:
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::uint64:
      return "integers";
    case Type::float16:
    case Type::float32:
    case Type::float64:
    case Type::float_long:
      return "floating point";
    case Type::complex64:
    case Type::complex128:
    case Type::complex_long:
      return "complex";
    case Type::boolean:
    case Type::logical:
      return "logical";
    default:
      return "pairs";
  }
}

/// The kinds of types that an operator is defined on: "integers, floating point".
std::string kinds_of(Op op) {
  std::vector<std::string_view> kinds;
  for (std::size_t i = 0; i < type_count; ++i) {
    const Type type = static_cast<Type>(i);
    const bool known = std::ranges::find(kinds, kind_of(type)) != kinds.end();
    if (reduce_kernel(op, type) != nullptr && !known) kinds.push_back(kind_of(type));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

std::string collective_names() {
  std::string text;
  for (const Collective collective : all_collectives) text += fmt::format("{}\n", to_string(collective));
  return text;
}

std::string type_table() {
  std::string text =
      fmt::format("{:<22} {:>5}  {}\n", "type", "bytes", "other names, with MPI_ before them or without");
  for (std::size_t i = 0; i < type_count; ++i) {
    const Type type = static_cast<Type>(i);
    const auto line =
        fmt::format("{:<22} {:>5}  {}", to_string(type), extent_bytes(type), fmt::join(other_names(type), ", "));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string operator_table() {
  std::string text = fmt::format("{:<9} {:<12} {:<11} {}\n", "operator", "commutative", "idempotent", "defined on");
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    text += fmt::format("{:<9} {:<12} {:<11} {}\n", to_string(op), is_commutative(op) ? "yes" : "no",
                        is_idempotent(op) ? "yes" : "no", kinds_of(op));
  }
  return text;
}

std::string policy_table() {
  std::string text;
  for (const NamedPolicy& policy : policies) text += fmt::format("{:<15} {}\n", policy.name, policy.about);
  return text;
}

}  // namespace circoll::cli
