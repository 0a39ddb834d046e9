// Warnings about MPICH's trees: what reads well and does something else.
#pragma once

#include <vector>

#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {

/// Warnings about a tree that MPICH accepts, in the order of lines. They are about tests that end the program or are
/// never reached, chains that run out, algorithms that wrong calls come to, and parameters that are missing.
[[nodiscard]] std::vector<Warning> lint(const Selection& selection);

/// True if calls can come to the end of a chain, or to a test that is undefined for them.
[[nodiscard]] bool ends_calls(const Selection& selection);

/// The reasons why an algorithm is wrong for a call; empty if it is right.
[[nodiscard]] std::vector<std::string> wrong_calls(const Needs& needs, const Call& call);

}  // namespace circoll::foreign::mpich
