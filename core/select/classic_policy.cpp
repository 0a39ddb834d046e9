// The policy "classic" is the choice of Thakur, Rabenseifner and Gropp by operator (predefined or not) and length.
// Collectives without an operator have the algorithms of the same paper.
#include "select/policies.hpp"

namespace circoll::select {
namespace {

// The most bytes of a "short" call: the figures of the paper and of MPICH. They count the vector that CallFacts::bytes
// means. For alltoall they count the block.
constexpr Count short_reduction = 2048;
constexpr Count short_bcast = 12288;
constexpr Rank few_ranks = 8;
constexpr Count short_allgather = 81920;
constexpr Count short_reduce_scatter = 524288;
constexpr Count short_alltoall_block = 256;

struct Wish {
  std::string_view name;
  std::string reason;
};

bool is_power_of_two(Rank p) { return (p & (p - 1)) == 0; }

std::string size_class(bool is_short, Count limit) {
  return (is_short ? "short (at most " : "long (more than ") + std::to_string(limit) + " bytes)";
}

Wish reduction(const CallFacts& facts) {
  if (!facts.predefined_op) {
    // The paper's recursive doubling is an allreduce; to one root the same tree is binomial.
    return {facts.collective == Collective::reduce ? "binomial" : "recursive_doubling", "the caller's own operator"};
  }
  const bool is_short = facts.bytes <= short_reduction;
  return {is_short ? "binomial" : "rabenseifner", "predefined operator, " + size_class(is_short, short_reduction)};
}

Wish reduce_scatter(const CallFacts& facts) {
  if (!facts.op.commutative) return {"recursive_doubling", "the operator does not commute"};
  const bool is_short = facts.bytes <= short_reduce_scatter;
  return {is_short ? "recursive_halving" : "pairwise", size_class(is_short, short_reduce_scatter)};
}

Wish allgather(const CallFacts& facts) {
  const bool is_short = facts.bytes <= short_allgather;
  const std::string reason = size_class(is_short, short_allgather);
  if (!is_short) return {"ring", reason};
  return is_power_of_two(facts.p) ? Wish{"recursive_doubling", reason + ", a power of two of ranks"}
                                  : Wish{"bruck", reason + ", no power of two of ranks"};
}

Wish bcast(const CallFacts& facts) {
  if (facts.p < few_ranks) return {"binomial", "fewer than 8 ranks"};
  const bool is_short = facts.bytes <= short_bcast;
  return {is_short ? "binomial" : "scatter_allgather", size_class(is_short, short_bcast)};
}

Wish alltoall(const CallFacts& facts) {
  const bool is_short = facts.bytes / facts.p <= short_alltoall_block;
  return {is_short && facts.p >= few_ranks ? "bruck" : "pairwise",
          facts.p < few_ranks ? "fewer than 8 ranks" : "blocks are " + size_class(is_short, short_alltoall_block)};
}

Wish wish_of(const CallFacts& facts) {
  switch (facts.collective) {
    case Collective::allreduce:
    case Collective::reduce:
      return reduction(facts);
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return reduce_scatter(facts);
    case Collective::allgather:
    case Collective::allgatherv:
      return allgather(facts);
    case Collective::bcast:
      return bcast(facts);
    case Collective::gather:
    case Collective::scatter:
      return {"binomial", "the paper's only algorithm"};
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      return {"linear", "the ranks do not all know the sizes"};
    case Collective::barrier:
      return {"dissemination", "the classical algorithm"};
    case Collective::alltoall:
      return alltoall(facts);
    case Collective::scan:
    case Collective::exscan:
      return {"recursive_doubling", "the classical algorithm"};
  }
  return {};
}

class Classic final : public PolicyBase {
 public:
  explicit Classic(const PolicyOptions& options) : PolicyBase("classic", options) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    const Wish wish = wish_of(facts);
    std::vector<RuledOut> ruled_out;
    const Selection wished{find_algorithm(facts.collective, wish.name), facts.collective, {}};
    if (wished.algorithm != nullptr) {
      if (auto decision = take(facts, wished, wish.reason, ruled_out)) return *std::move(decision);
    }
    return fall_back(facts, std::string(wish.name) + " (" + wish.reason + ") cannot serve the call",
                     std::move(ruled_out));
  }
};

}  // namespace

std::unique_ptr<const Policy> make_classic(const PolicyOptions& options) { return std::make_unique<Classic>(options); }

}  // namespace circoll::select
