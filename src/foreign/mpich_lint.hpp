// Warnings about MPICH's trees: what reads well and does something else.
#pragma once

#include <vector>

#include "foreign/mpich_csel.hpp"

namespace circoll::foreign::mpich {

/// Warnings about a tree that MPICH accepts, in the order of lines: tests that end the program or are never reached,
/// chains that run out, algorithms without the tests that keep wrong calls from them, parameters that are missing.
[[nodiscard]] std::vector<Warning> lint(const Selection& selection);

/// True if calls of intracommunicators can come to a test that is not defined for them, or to the end of a chain.
[[nodiscard]] bool ends_calls(const Selection& selection);

/// The calls that a leaf is wrong for, among those that reach it: "operators that do not commute". Empty if none.
[[nodiscard]] std::vector<std::string> wrong_calls(const Needs& needs, const Call& call);

}  // namespace circoll::foreign::mpich
