// Rules of a collective as a subtree: chains of tests at their bounds, with an algorithm for every call.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "foreign/mpich_sayable.hpp"
#include "foreign/mpich_tree.hpp"

namespace circoll::foreign::mpich {

/// The members of a collective's tree for intracommunicators, by its blocking or nonblocking name. Calls that no rule
/// holds, or that a rule's algorithm is wrong for, get `otherwise`. Empty if that is all calls.
[[nodiscard]] std::vector<Tree> cells(std::span<const Sayable> rules, Collective collective, bool nonblocking,
                                      const std::vector<Tree>& otherwise, Version version);

/// A copy that means the same below any test: comm_size<N becomes <= as it is read where it stands.
[[nodiscard]] std::vector<Tree> movable(const std::vector<Tree>& members, Version version, bool message_tested = false);

}  // namespace circoll::foreign::mpich
