// The default decision. Formulas, not a table: crossover points follow from alpha and beta.
#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <string>

#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

/// ceil(log2 p)
int rounds_of(Rank p) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p - 1))); }

struct Situation {
  Collective collective;
  Rank p;
  bool same_bits;
  OperatorTraits op;
};

bool usable(const Algorithm& algorithm, const Situation& s) {
  if (s.same_bits && !algorithm.guarantees.same_bits) return false;
  return unmet_need(algorithm, s.p, s.op).empty();
}

/// The first usable algorithm of the list, else the first usable one of the registry.
Selection first_usable(const Situation& s, std::initializer_list<std::string_view> preferred) {
  for (const std::string_view name : preferred) {
    const Algorithm* algorithm = find_algorithm(s.collective, name);
    if (algorithm != nullptr && usable(*algorithm, s)) return Selection{algorithm, s.collective, {}};
  }
  for (const Algorithm* algorithm : algorithms_of(s.collective)) {
    if (usable(*algorithm, s)) return Selection{algorithm, s.collective, {}};
  }
  throw Error(ErrorCode::unsupported,
              "no algorithm of " + std::string(to_string(s.collective)) + " serves this operator and p");
}

Selection allreduce(const Situation& s, double bytes, const LinkCost& link) {
  const double q = rounds_of(s.p);
  const auto p = static_cast<double>(s.p);
  const double alpha = link.alpha_s;
  const double transfer = link.beta_s_per_byte * bytes;
  // q rounds: of the whole vector, or gathering all p vectors (any operator, same bits); 2q rounds: two
  // vectors in all.
  const double whole = q * (alpha + transfer);
  const double gathered = q * alpha + (p - 1) * transfer;
  const double halves = 2 * q * alpha + 2 * (p - 1) / p * transfer;
  if (!s.same_bits && s.op.commutative) {
    return whole <= halves ? first_usable(s, {"circulant", "circulant_optimal", "circulant_rsag"})
                           : first_usable(s, {"circulant_optimal", "circulant_rsag", "circulant"});
  }
  return gathered <= halves ? first_usable(s, {"allgather_reduce", "circulant_optimal", "circulant_rsag"})
                            : first_usable(s, {"circulant_optimal", "circulant_rsag", "allgather_reduce"});
}

}  // namespace

std::int64_t optimal_segments(Rank p, Count bytes, const LinkCost& link) {
  const double latency_rounds = std::max(0, rounds_of(p) - 1);
  const double n = std::sqrt(latency_rounds * link.beta_s_per_byte * static_cast<double>(bytes) / link.alpha_s);
  return static_cast<std::int64_t>(std::lround(std::clamp(n, 1.0, 1024.0)));
}

Selection default_selection(Collective collective, Rank p, Count bytes, bool exact_op, bool commutative) {
  const LinkCost link;
  // Only an allreduce computes one result on several ranks, so only there can ranks differ.
  const bool same_bits = collective == Collective::allreduce && !exact_op;
  const Situation s{collective, p, same_bits, OperatorTraits{.commutative = commutative, .idempotent = false}};
  switch (collective) {
    case Collective::allreduce:
      return allreduce(s, static_cast<double>(bytes), link);
    case Collective::reduce:
      return optimal_segments(p, bytes, link) == 1
                 ? first_usable(s, {"circulant_tree", "circulant", "circulant_pipelined"})
                 : first_usable(s, {"circulant_pipelined", "circulant_tree", "circulant"});
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return first_usable(s, {"circulant_optimal", "circulant", "circulant_ordered"});
    case Collective::allgather:
    case Collective::allgatherv:
      return first_usable(s, {"circulant_optimal", "circulant", "circulant_pipelined"});
    case Collective::bcast:
      return first_usable(s, {"circulant_pipelined"});
    case Collective::alltoall: {
      // q rounds that forward, about q / 2 times the volume; or p - 1 direct ones. `bytes` is what a rank sends.
      const double q = rounds_of(p);
      const double transfer = link.beta_s_per_byte * static_cast<double>(bytes);
      const bool forwards = q * (link.alpha_s + transfer / 2) < static_cast<double>(p - 1) * link.alpha_s + transfer;
      return forwards ? first_usable(s, {"circulant", "linear"}) : first_usable(s, {"linear", "circulant"});
    }
    case Collective::alltoallv:
      return first_usable(s, {"linear"});
    case Collective::scan:
      return first_usable(s, {"recursive_doubling"});
    case Collective::exscan:
      return first_usable(s, {"doubling_123"});
    default:
      return first_usable(s, {"circulant"});
  }
}

Count deciding_bytes(Collective collective, Count bytes) {
  switch (collective) {
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
    case Collective::barrier:
      return 0;
    default:
      return bytes;
  }
}

void complete_segments(Selection& selection, Rank p, Count bytes, const LinkCost& link) {
  for (const ParamDeclaration& param : selection.algorithm->params) {
    if (param.name != "segments" || selection.params.contains(param.name)) continue;
    selection.params.emplace(param.name, std::clamp(optimal_segments(p, bytes, link), param.minimum, param.maximum));
  }
}

Selection resolve(const Choice& choice, Collective collective, Rank p, Count bytes, bool exact_op,
                  const OperatorTraits& op) {
  Selection selection;
  if (choice.is_default()) {
    selection = default_selection(collective, p, bytes, exact_op, op.commutative);
  } else if (choice.selection() != nullptr) {
    selection = *choice.selection();
  } else if (choice.text().find('/') != std::string_view::npos) {
    selection = parse_selection(choice.text());
  } else {
    selection = parse_selection(collective, choice.text());
  }
  require(
      selection.algorithm != nullptr && selection.collective == collective && selection.algorithm->serves(collective),
      "the chosen algorithm is one of another collective");
  const std::string unmet = unmet_need(*selection.algorithm, p, op);
  if (!unmet.empty()) throw Error(ErrorCode::unsupported, selection.id() + ": " + unmet);
  complete_segments(selection, p, bytes);
  return selection;
}

}  // namespace circoll
