// Neutral rules as MPICH's tree can say them, and the sentences about the rest.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foreign/foreign.hpp"
#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {

/// A rule as the tree will have it. Without leaves the library decides; so it does where a rule cannot be said, for all
/// calls that the tree cannot tell from those of the rule.
struct Sayable {
  Rule rule{};
  std::optional<Leaves> leaves{};
  Needs needs{};
  bool by_variable = false;  ///< control variables say it
};

struct SayableRules {
  std::vector<Sayable> rules{};  ///< in order; the first that holds counts
  std::vector<std::string> losses{};
  std::vector<std::string> settings{};  ///< control variables that say what the tree cannot, as lines for the shell
};

[[nodiscard]] SayableRules sayable(std::span<const Rule> rules, Version version);

/// The test of sizes whose value is the bytes of the vector. Nothing if there is none for the collective.
[[nodiscard]] std::optional<Test> size_test(Collective collective);
/// True if the tree tells operators apart for the collective.
[[nodiscard]] bool tells_operators(Collective collective);

/// True if a rule holds a call, where ranks per node are the average, as the tree tests them.
[[nodiscard]] bool holds(const Rule& rule, const Call& call);

/// The members of a leaf: the algorithm with its parameters.
[[nodiscard]] Tree leaf_tree(const std::string& full_name, const Rule& rule, Version version);

}  // namespace circoll::foreign::mpich
