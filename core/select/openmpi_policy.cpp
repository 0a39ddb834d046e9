// openmpi_fixed: the fixed decision tree for allreduce of Open MPI's tuned component, and the model elsewhere.
//
// The tree assumes a commutative operator. For another one Open MPI reduces and broadcasts ("nonoverlapping"), and so
// does this policy, which also is the substitute should a need of the tree's choice, or the same-bits rule, not hold.
#include <span>

#include "select/policies.hpp"

namespace circoll::select {
namespace {

constexpr Count no_limit = -1;

/// Serves vectors below `bytes_below`, if no earlier leaf does.
struct Leaf {
  Count bytes_below;
  std::string_view algorithm;
};

/// Serves communicators below `p_below`, if no earlier branch does.
struct Branch {
  Rank p_below;
  std::span<const Leaf> leaves;
};

constexpr std::string_view ring = "ring";
constexpr std::string_view segmented_ring = "segmented_ring";
constexpr std::string_view recursive_doubling = "recursive_doubling";
constexpr std::string_view rabenseifner = "rabenseifner";
constexpr std::string_view nonoverlapping = "nonoverlapping";

constexpr Leaf below_4[] = {{8, ring},
                            {4096, recursive_doubling},
                            {8192, ring},
                            {16384, recursive_doubling},
                            {65536, ring},
                            {262144, segmented_ring},
                            {no_limit, rabenseifner}};
constexpr Leaf below_8[] = {{16, ring}, {8192, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_16[] = {{8192, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_32[] = {{64, segmented_ring}, {4096, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_64[] = {{128, segmented_ring}, {no_limit, rabenseifner}};
constexpr Leaf below_128[] = {{262144, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_256[] = {{131072, nonoverlapping}, {262144, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_512[] = {{4096, nonoverlapping}, {no_limit, rabenseifner}};
constexpr Leaf below_2048[] = {{2048, nonoverlapping}, {16384, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf below_4096[] = {
    {2048, nonoverlapping}, {4096, segmented_ring}, {16384, recursive_doubling}, {no_limit, rabenseifner}};
constexpr Leaf others[] = {
    {2048, nonoverlapping}, {16384, segmented_ring}, {32768, recursive_doubling}, {no_limit, rabenseifner}};

constexpr Branch tree[] = {{4, below_4},       {8, below_8},       {16, below_16},    {32, below_32},
                           {64, below_64},     {128, below_128},   {256, below_256},  {512, below_512},
                           {2048, below_2048}, {4096, below_4096}, {no_limit, others}};

class OpenMpiFixed final : public PolicyBase {
 public:
  explicit OpenMpiFixed(const PolicyOptions& options) : PolicyBase("openmpi_fixed", options) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    if (facts.collective != Collective::allreduce) return fall_back(facts, "the tree is for allreduce alone", {});
    std::vector<RuledOut> ruled_out;
    const auto try_name = [&](std::string_view name, const std::string& reason) {
      const Selection wished{find_algorithm(facts.collective, name), facts.collective, {}};
      return wished.algorithm == nullptr ? std::nullopt : take(facts, wished, reason, ruled_out);
    };
    if (!facts.op.commutative) {
      if (auto d = try_name(nonoverlapping, "an operator that does not commute is reduced and broadcast")) return *d;
      return fall_back(facts, "nonoverlapping cannot serve the call", std::move(ruled_out));
    }
    const std::string_view name = openmpi_tree(facts.p, facts.bytes);
    if (auto d = try_name(name, "Open MPI's tree for " + std::to_string(facts.p) + " ranks and " +
                                    std::to_string(facts.bytes) + " bytes")) {
      return *d;
    }
    if (auto d = try_name(nonoverlapping, "the tree's " + std::string(name) + " cannot serve the call")) return *d;
    return fall_back(facts, "neither the tree's choice nor nonoverlapping can serve the call", std::move(ruled_out));
  }
};

}  // namespace

std::string_view openmpi_tree(Rank p, Count bytes) {
  for (const Branch& branch : tree) {
    if (branch.p_below != no_limit && p >= branch.p_below) continue;
    for (const Leaf& leaf : branch.leaves) {
      if (leaf.bytes_below == no_limit || bytes < leaf.bytes_below) return leaf.algorithm;
    }
  }
  return nonoverlapping;  // not reached: the last branch and every last leaf have no limit
}

std::unique_ptr<const Policy> make_openmpi_fixed(const PolicyOptions& options) {
  return std::make_unique<OpenMpiFixed>(options);
}

}  // namespace circoll::select
